// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/seek_index.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace headrace::jpeg {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

constexpr std::uint32_t kMagic = 0x4b535248;  // "HRSK"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeader = 28;
constexpr std::size_t kEntry = 10;
constexpr std::size_t kTrailer = 8;

template <class T>
T load(ByteSpan bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

std::optional<SeekIndex> SeekIndex::open(ByteSpan bytes, const Hash128& payload,
                                         const Headers& headers) {
  const std::uint32_t per_row = checkpoints_per_row(headers);
  const std::uint32_t rows = checkpoint_rows(headers);
  const std::size_t count = std::size_t{per_row} * rows;
  if (headers.restart_interval != 0 || bytes.size() != kHeader + count * kEntry + kTrailer) {
    return std::nullopt;
  }
  const std::size_t end = bytes.size() - kTrailer;
  const bool ours =
      load<std::uint32_t>(bytes, 0) == kMagic && load<std::uint32_t>(bytes, 4) == kVersion &&
      load<std::uint64_t>(bytes, 8) == payload.low &&
      load<std::uint64_t>(bytes, 16) == payload.high && load<std::uint32_t>(bytes, 24) == count &&
      load<std::uint64_t>(bytes, end) == XXH3_64bits(bytes.data(), end);
  if (!ours) return std::nullopt;
  return SeekIndex(bytes.subspan(kHeader, count * kEntry), per_row, rows);
}

std::vector<std::byte> SeekIndex::serialise(std::span<const Checkpoint> checkpoints,
                                            const Hash128& payload) {
  std::vector<std::byte> bytes(kHeader + checkpoints.size() * kEntry + kTrailer);
  store(bytes, 0, kMagic);
  store(bytes, 4, kVersion);
  store(bytes, 8, payload.low);
  store(bytes, 16, payload.high);
  store(bytes, 24, static_cast<std::uint32_t>(checkpoints.size()));
  std::size_t at = kHeader;
  for (const Checkpoint& checkpoint : checkpoints) {
    store(bytes, at, checkpoint.bit);
    store(bytes, at + 4, checkpoint.predictors);
    at += kEntry;
  }
  store(bytes, at, static_cast<std::uint64_t>(XXH3_64bits(bytes.data(), at)));
  return bytes;
}

Checkpoint SeekIndex::at(std::uint32_t row, std::uint32_t stretch) const {
  const std::size_t at = (std::size_t{row} * per_row_ + stretch) * kEntry;
  return {load<std::uint32_t>(entries_, at), load<std::array<std::int16_t, 3>>(entries_, at + 4)};
}

}  // namespace headrace::jpeg
