// SPDX-License-Identifier: Apache-2.0
// A picture with any bytes as its seek index, and with a lying one whose checksums are right: the
// pixels may be wrong then, but nothing may be read or written that is not the decoder's.
// Input: how much of it is the index, where the box lies, index bytes, picture.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "headrace/decode/jpeg/region.h"

namespace headrace::jpeg {
namespace {

constexpr std::uint32_t kMostPixels = 1U << 18U;

/// The true checkpoints, with `noise` over them.
std::vector<std::byte> lying_index(std::span<const Checkpoint> truth, ByteSpan noise,
                                   const Hash128& payload) {
  std::vector<Checkpoint> checkpoints(truth.begin(), truth.end());
  for (std::size_t i = 0; i + 1 < noise.size() && !checkpoints.empty(); i += 2) {
    const auto where = std::to_integer<std::size_t>(noise[i]);
    const auto what = std::to_integer<std::uint32_t>(noise[i + 1]);
    Checkpoint& checkpoint = checkpoints[(where >> 2U) % checkpoints.size()];
    if ((where & 3U) == 3) {
      checkpoint.bit ^= 1U << (what % 32);
    } else {
      checkpoint.predictors[where & 3U] ^= static_cast<std::int16_t>(1U << (what % 16));
    }
  }
  return SeekIndex::serialise(checkpoints, payload);
}

std::vector<Checkpoint> checkpoints_of(ByteSpan index) {
  constexpr std::size_t kHeader = 28;
  constexpr std::size_t kEntry = 10;
  std::vector<Checkpoint> all;
  for (std::size_t at = kHeader; at + kEntry + 8 <= index.size(); at += kEntry) {
    Checkpoint checkpoint;
    std::memcpy(&checkpoint.bit, index.data() + at, 4);
    std::memcpy(checkpoint.predictors.data(), index.data() + at + 4, 6);
    all.push_back(checkpoint);
  }
  return all;
}

Box box_of(unsigned choice, std::uint32_t width, std::uint32_t height) {
  const std::uint32_t left = width * (choice & 7U) / 8;
  const std::uint32_t top = height * (choice >> 3U & 7U) / 8;
  const std::uint32_t share = 1 + (choice >> 6U);  // quarters of what is left
  return {left, top, std::max(1U, (width - left) * share / 4),
          std::max(1U, (height - top) * share / 4)};
}

}  // namespace
}  // namespace headrace::jpeg

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::jpeg;
  if (size < 2) return 0;
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  const std::size_t split = std::min<std::size_t>(data[0], bytes.size());
  const ByteSpan noise = bytes.first(split);
  const ByteSpan picture = bytes.subspan(split);
  RegionDecoder decoder;
  if (!decoder.open(picture).empty()) return 0;
  if (std::uint64_t{decoder.width()} * decoder.height() > kMostPixels) return 0;
  const Box box = box_of(data[1], decoder.width(), decoder.height());
  const std::size_t stride = std::size_t{box.width} * 3;
  std::vector<std::uint8_t> rgb(stride * box.height);
  const Hash128 payload = hash_bytes(picture);
  decoder.decode_indexed(box, rgb.data(), stride, noise, payload);
  if (!decoder.decode(box, rgb.data(), stride, true)) return 0;
  const auto truth = decoder.seek_index(payload);
  decoder.decode_indexed(box, rgb.data(), stride,
                         lying_index(checkpoints_of(truth), noise, payload), payload);
  // And with nothing true in it.
  std::vector<Checkpoint> any(checkpoints_of(truth).size());
  for (std::size_t i = 0; i < any.size() && !noise.empty(); ++i) {
    any[i].bit = std::to_integer<std::uint32_t>(noise[i % noise.size()]) << (i % 24);
  }
  decoder.decode_indexed(box, rgb.data(), stride, SeekIndex::serialise(any, payload), payload);
  return 0;
}
