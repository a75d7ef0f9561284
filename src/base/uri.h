// SPDX-License-Identifier: Apache-2.0
/// \file Where data is kept, as the user writes it: a path, s3://bucket/prefix, nfs://host/export.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

enum class Scheme { local, s3, nfs, memory };

struct Uri {
  Scheme scheme = Scheme::local;
  std::string authority;  ///< bucket or host; empty for a path
  std::string path;       ///< local: the path; s3: the key or prefix, byte-exact, without first '/'

  std::string to_string() const;
};

/// `file://` is accepted for a path. Other schemes are `invalid` and named. Nothing in the key is
/// normalised or decoded: `a//b`, `.` and `%2B` mean themselves.
Result<Uri> parse_uri(std::string_view text);

}  // namespace headrace
