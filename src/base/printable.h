// SPDX-License-Identifier: Apache-2.0
/// \file Text that a terminal shows as it is: names of objects may hold line ends, or sequences
/// that move the cursor. Pure.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// Control characters as "\n", "\t", "\x1b", those of two bytes in UTF-8 (U+0080 to U+009F) too;
/// everything else, also what is no UTF-8, as it stands.
inline std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  const auto byte_at = [text](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const auto escape = [&](unsigned byte) {
    out += "\\x";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned byte = byte_at(i);
    const unsigned next = byte_at(i + 1);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      escape(byte);
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      escape(byte);
      escape(next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace headrace
