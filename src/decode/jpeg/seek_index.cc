// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/seek_index.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::jpeg {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

constexpr std::uint32_t kMagic = 0x4b535248;  // "HRSK"
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kHeader = 32;
constexpr std::size_t kEntry = 8;
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

// An entry: 28 bits of file offset, then 12 for each predictor.
constexpr unsigned kBitBits = 28;
constexpr unsigned kPredictorBits = 12;
constexpr std::int32_t kPredictorBias = 1 << (kPredictorBits - 1);

bool fits(const Checkpoint& checkpoint) {
  return checkpoint.bit >> kBitBits == 0 &&
         std::all_of(checkpoint.predictors.begin(), checkpoint.predictors.end(),
                     [](int p) { return p >= -kPredictorBias && p < kPredictorBias; });
}

std::uint64_t pack(const Checkpoint& checkpoint) {
  std::uint64_t packed = checkpoint.bit;
  for (unsigned i = 0; i < 3; ++i) {
    const auto biased = static_cast<std::uint32_t>(checkpoint.predictors[i] + kPredictorBias);
    packed |= std::uint64_t{biased} << (kBitBits + i * kPredictorBits);
  }
  return packed;
}

Checkpoint unpack(std::uint64_t packed) {
  Checkpoint checkpoint;
  checkpoint.bit = static_cast<std::uint32_t>(packed & ((1U << kBitBits) - 1));
  for (unsigned i = 0; i < 3; ++i) {
    const auto biased = static_cast<std::int32_t>(packed >> (kBitBits + i * kPredictorBits) &
                                                  ((1U << kPredictorBits) - 1));
    checkpoint.predictors[i] = static_cast<std::int16_t>(biased - kPredictorBias);
  }
  return checkpoint;
}

}  // namespace

std::uint32_t checkpoint_interval(const Headers& headers, std::size_t picture_bytes) {
  const std::size_t most = picture_bytes / 25;
  const std::size_t fixed = kHeader + kTrailer;
  const std::size_t entries = most < fixed ? 0 : (most - fixed) / kEntry;
  const auto a_row = static_cast<std::uint32_t>(
      std::min<std::size_t>(entries / mcu_rows(headers), mcus_per_row(headers)));
  return a_row == 0 ? 0 : divide_up(mcus_per_row(headers), a_row);
}

std::optional<SeekIndex> SeekIndex::open(ByteSpan bytes, const Hash128& payload,
                                         const Headers& headers) {
  if (headers.restart_interval != 0 || bytes.size() < kHeader + kTrailer) return std::nullopt;
  const auto interval = load<std::uint32_t>(bytes, 28);
  if (interval == 0) return std::nullopt;
  const std::uint32_t per_row =
      interval >= mcus_per_row(headers) ? 1 : divide_up(mcus_per_row(headers), interval);
  const std::uint32_t rows = mcu_rows(headers);
  const std::size_t count = std::size_t{per_row} * rows;
  if (bytes.size() != kHeader + count * kEntry + kTrailer) return std::nullopt;
  const std::size_t end = bytes.size() - kTrailer;
  const bool ours =
      load<std::uint32_t>(bytes, 0) == kMagic && load<std::uint32_t>(bytes, 4) == kVersion &&
      load<std::uint64_t>(bytes, 8) == payload.low &&
      load<std::uint64_t>(bytes, 16) == payload.high && load<std::uint32_t>(bytes, 24) == count &&
      load<std::uint64_t>(bytes, end) == XXH3_64bits(bytes.data(), end);
  if (!ours) return std::nullopt;
  return SeekIndex(bytes.subspan(kHeader, count * kEntry), interval, per_row, rows);
}

std::vector<std::byte> SeekIndex::serialise(std::span<const Checkpoint> checkpoints,
                                            std::uint32_t interval, const Hash128& payload) {
  if (!std::all_of(checkpoints.begin(), checkpoints.end(), fits)) return {};
  std::vector<std::byte> bytes(kHeader + checkpoints.size() * kEntry + kTrailer);
  store(bytes, 0, kMagic);
  store(bytes, 4, kVersion);
  store(bytes, 8, payload.low);
  store(bytes, 16, payload.high);
  store(bytes, 24, static_cast<std::uint32_t>(checkpoints.size()));
  store(bytes, 28, interval);
  std::size_t at = kHeader;
  for (const Checkpoint& checkpoint : checkpoints) {
    store(bytes, at, pack(checkpoint));
    at += kEntry;
  }
  store(bytes, at, static_cast<std::uint64_t>(XXH3_64bits(bytes.data(), at)));
  return bytes;
}

Checkpoint SeekIndex::at(std::uint32_t row, std::uint32_t stretch) const {
  return unpack(load<std::uint64_t>(entries_, (std::size_t{row} * per_row_ + stretch) * kEntry));
}

}  // namespace headrace::jpeg
