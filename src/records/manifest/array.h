// SPDX-License-Identifier: Apache-2.0
/// \file A SageMaker manifest: `[{"prefix": "s3://bucket/train/"}, "1.jpg", "2.jpg"]`.
///
/// A pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::manifest {

struct Named {
  std::string name;  ///< what follows the prefix
  std::uint64_t line = 0;
};

struct Array {
  std::string prefix;
  std::vector<Named> names;
};

/// True if it may be the beginning of one.
bool is_array(std::string_view text);

/// `invalid`, with the line: no JSON, no prefix at the beginning, a name that is no text.
Result<Array> parse_array(std::string_view text);

}  // namespace headrace::manifest
