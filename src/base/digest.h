// SPDX-License-Identifier: Apache-2.0
/// \file Digests that add: 128-bit hashes summed modulo 2^128 over samples, ranks and restarts.
///
/// Values; no shared state. Formulas in docs/SEMANTICS.md, "Digests":
///   payload  = XXH3-128(encoded picture)
///   set      = Σ XXH3-128(labels as float32 LE, payload)
///   order    = Σ XXH3-128(position u64 LE, sample id u64 LE, labels, payload)
/// The hash is part of the product's promise: its version is `kDigestVersion`.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace {

inline constexpr int kDigestVersion = 1;

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  // The check takes the literal 0 of a rewritten `a < b` for a pointer.
  auto operator<=>(const Hash128&) const = default;  // NOLINT(modernize-use-nullptr)
  /// Sum modulo 2^128.
  Hash128& operator+=(const Hash128& other);

  /// 32 hexadecimal digits, high half first.
  std::string to_hex() const;
  static std::optional<Hash128> from_hex(std::string_view text);
};

Hash128 hash_bytes(ByteSpan bytes);

/// One sample's term of the set digest.
Hash128 set_term(std::span<const float> labels, const Hash128& payload);
/// One sample's term of the order digest. `position` is global: the same on any rank.
Hash128 order_term(std::uint64_t position, std::uint64_t sample_id, std::span<const float> labels,
                   const Hash128& payload);

}  // namespace headrace
