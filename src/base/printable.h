// SPDX-License-Identifier: Apache-2.0
/// \file Text that a terminal shows as it is: names of objects may hold line ends, or sequences
/// that move the cursor. Pure.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// Control characters as "\n", "\t", "\x1b"; everything else, also what is no UTF-8, as it stands.
inline std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned char kFirst = 0x20;   // that is no control character
  constexpr unsigned char kDelete = 0x7f;  // the one that stands apart
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= kFirst && byte != kDelete) {
      out += letter;
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 0xfU];
    }
  }
  return out;
}

}  // namespace headrace
