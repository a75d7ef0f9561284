// SPDX-License-Identifier: Apache-2.0
/// \file What stands between the parts of a RecordIO record that a writer split.
#pragma once

namespace headrace::recordio {

/// The magic that the writer took out (dmlc, MXNet), or nothing (SageMaker).
enum class Parts {
  /// dmlc, unless a part before the last is no multiple of 4 long, as dmlc writes none, or only
  /// SageMaker's reading is an aialgs.data.Record.
  automatic,
  dmlc,
  sagemaker,
};

}  // namespace headrace::recordio
