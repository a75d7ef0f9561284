// SPDX-License-Identifier: Apache-2.0
/// \file A batch with the transform that made it, which says what its bytes are.
#pragma once

#include <memory>
#include <utility>

#include "headrace/batch/batch.h"
#include "headrace/decode/transform.h"

namespace headrace::python {

struct PyBatch {
  PyBatch(std::unique_ptr<Batch> of, const Transform& by) : batch(std::move(of)), transform(by) {}

  std::unique_ptr<Batch> batch;
  Transform transform;
};

}  // namespace headrace::python
