// SPDX-License-Identifier: Apache-2.0
/// \file Which libraries decode what our own decoder does not. Pure.
#pragma once

#include <string>
#include <vector>

namespace headrace {

struct DecoderVersion {
  std::string library;  ///< "libjpeg-turbo"
  std::string version;  ///< "2.1.5"
};

std::vector<DecoderVersion> decoder_versions();

}  // namespace headrace
