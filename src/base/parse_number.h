// SPDX-License-Identifier: Apache-2.0
/// \file A number that is the whole of a text. Thread-safe: a pure function.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace headrace {

/// By std::from_chars: no blanks, no plus sign, the point whatever the locale. Nothing if the text
/// is empty, has anything before or behind the number, or a number that `Number` cannot hold.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

}  // namespace headrace
