// SPDX-License-Identifier: Apache-2.0
/// \file Makes a command line refuse counts and sizes that are below 0 or beyond 64 bits: the
/// parser itself takes them round the corner (-1 becomes 2^64 - 1) or cuts them off at the end.
///
/// Not thread-safe; for `main`, which links CLI11.
///
///     CLI::App app("…");
///     app.add_option("--epochs", epochs);
///     refuse_wrapped_numbers(app);          // after the last option; then --epochs -1 is an error
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>

namespace headrace {

/// What is wrong with `text` as a number from 0 to 2^64 - 1, which a unit may follow; empty if
/// nothing.
inline std::string wrapped_number(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  if (text[first] == '-') return text + " is below 0";
  if (text[first] < '0' || text[first] > '9') return "\"" + text + "\" is no whole number";
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data() + first, text.data() + text.size(), number);
  if (parsed.ec == std::errc::result_out_of_range) return text + " is too large";
  return {};
}

/// For counts that cannot be 0; CLI::PositiveNumber names a range of 300 digits in its message.
inline CLI::Validator at_least_one() {
  return {[](std::string& text) { return text == "0" ? "0 is below 1" : std::string(); },
          "POSITIVE"};
}

/// For shares: "0.1%" becomes 0.001; what is not from 0 to 1, or from 0% to 100%, is refused.
inline CLI::Validator as_share() {
  return {[](std::string& text) {
            const bool percent = text.ends_with('%');
            const std::string number = percent ? text.substr(0, text.size() - 1) : text;
            double value = 0;
            const char* const end = number.data() + number.size();
            const auto parsed = std::from_chars(number.data(), end, value);
            if (parsed.ec != std::errc() || parsed.ptr != end)
              return "\"" + text + "\" is no share, such as 0.001 or 0.1%";
            if (percent) value /= 100;
            if (!(value >= 0 && value <= 1)) return text + " is not from 0 to 1";
            std::array<char, 32> exact{};
            const auto written = std::to_chars(exact.data(), exact.data() + exact.size(), value);
            text.assign(exact.data(), written.ptr);
            return std::string();
          },
          "SHARE"};
}

/// CLI::Range takes what is neither below nor above it, and the parser takes "nan".
inline std::string no_number(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || std::isfinite(value)) return {};
  return text + " is no number";
}

/// For every unsigned option of `app` and its subcommands; and for fractions, which may be below 0.
inline void refuse_wrapped_numbers(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_type_name().rfind("FLOAT", 0) == 0)
      option->transform(CLI::Validator([](std::string& text) { return no_number(text); }, ""));
    if (option->get_type_name().rfind("UINT", 0) != 0) continue;
    // As a transform it comes before those that apply units.
    option->transform(CLI::Validator([](std::string& text) { return wrapped_number(text); }, ""));
  }
  for (CLI::App* const command : app.get_subcommands({})) refuse_wrapped_numbers(*command);
}

}  // namespace headrace
