// SPDX-License-Identifier: Apache-2.0
/// \file Where the middle between two keys may be: guesses about keys of which few have been seen.
///
/// Not thread-safe; pure. Keys are taken as fractions whose digits are the characters seen so far
/// (if one is a decimal digit, all ten are). A guess may be wrong and cost a request; whoever asks
/// must not rely on it. Example: split_listing.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

class KeySpace {
 public:
  /// A key, without what all have in common.
  void saw(std::string_view key);

  /// How much lies between `at` and `end`, of what lies between `begin` and `end`: 0 to 1. No end:
  /// above all keys.
  /// REQUIRES: begin <= at <= end
  double share_left(std::string_view begin, std::string_view at,
                    const std::optional<std::string>& end) const;

  /// A text between the two, about in the middle; empty if there is none.
  std::string middle(std::string_view low, const std::optional<std::string>& high) const;

  /// The first texts above all that begin with one, two, … characters of `key`, at most `most`.
  static std::vector<std::string> behind_prefixes(std::string_view key, std::size_t most);

 private:
  double value(std::u32string_view key, std::size_t from) const;

  std::u32string characters_;  // sorted
};

}  // namespace headrace
