// SPDX-License-Identifier: Apache-2.0
/// \file Letters and blanks of ASCII, whatever the locale. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace headrace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = lower(c);
  return all;
}

/// Without these at either end.
constexpr std::string_view trim(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - 1 - text.find_last_not_of(blanks));
  return text;
}

}  // namespace headrace
