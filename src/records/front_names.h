// SPDX-License-Identifier: Apache-2.0
/// \file Sorted names without what each shares with the one before it; pure functions.
///
/// A name is u16 `shared`, u16 `own`, then its `own` last bytes, little-endian: its first `shared`
/// bytes are those of the name before it. Every 16th name stands alone, so that reading one reads
/// 16 at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace headrace::front_names {

inline constexpr std::uint64_t kBlock = 16;
inline constexpr std::size_t kHead = 4;

struct Name {
  std::size_t shared = 0;
  std::string_view own;
};

/// The name that is written at `at`; nothing where there is none.
inline Name name_at(std::span<const char> names, std::uint64_t at) {
  if (at > names.size() || names.size() - at < kHead) return {};
  std::uint16_t sizes[2];
  std::memcpy(sizes, &names[at], sizeof sizes);
  if (names.size() - at - kHead < sizes[1]) return {};
  return {sizes[0], std::string_view(names.data() + at + kHead, sizes[1])};
}

/// Makes the name of the one that follows it out of `name`.
inline void advance(std::string& name, const Name& next) {
  name.resize(next.shared < name.size() ? next.shared : name.size());
  name += next.own;
}

}  // namespace headrace::front_names
