// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/digest.h"

#include <fmt/format.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // AVX2 and AVX-512 where the processor has them: 5 times as fast
#else
#include <xxhash.h>
#endif

#include <bit>
#include <charconv>
#include <vector>

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "digests are defined on LE bytes");

class Terms {  // bytes to hash
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  void add(const Hash128& hash) {
    add(&hash.low, sizeof hash.low);
    add(&hash.high, sizeof hash.high);
  }
  Hash128 hash() const {
    const XXH128_hash_t h = XXH3_128bits(bytes_.data(), bytes_.size());
    return {h.high64, h.low64};
  }
  Terms() { bytes_.reserve(64); }

 private:
  std::vector<unsigned char> bytes_;
};

}  // namespace

Hash128& Hash128::operator+=(const Hash128& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1U : 0U);
  return *this;
}

std::string Hash128::to_hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<Hash128> Hash128::from_hex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  Hash128 hash;
  const auto parse = [](std::string_view part, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out, 16);
    return error == std::errc() && end == part.data() + part.size();
  };
  if (!parse(text.substr(0, 16), hash.high) || !parse(text.substr(16), hash.low))
    return std::nullopt;
  return hash;
}

Hash128 hash_bytes(ByteSpan bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

Hash128 set_term(std::span<const float> labels, const Hash128& payload) {
  Terms terms;
  terms.add(labels.data(), labels.size_bytes());
  terms.add(payload);
  return terms.hash();
}

Hash128 order_term(std::uint64_t position, std::uint64_t sample_id, std::span<const float> labels,
                   const Hash128& payload) {
  Terms terms;
  terms.add(&position, sizeof position);
  terms.add(&sample_id, sizeof sample_id);
  terms.add(labels.data(), labels.size_bytes());
  terms.add(payload);
  return terms.hash();
}

}  // namespace headrace
