// SPDX-License-Identifier: Apache-2.0
/// \file What is said of a picture that decodes in spite of a fault. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "headrace/base/notices.h"

namespace headrace {

/// One notice for each kind, which names the first such picture. `warning` is the decoder's.
inline void note_decoded_in_spite(Notices& notices, std::string_view name,
                                  std::string_view warning) {
  notices.add(warning.starts_with("PNG: ") ? "png-warning" : "jpeg-warning",
              fmt::format("{} was decoded all the same: {}", name, warning));
}

}  // namespace headrace
