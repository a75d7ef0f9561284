// SPDX-License-Identifier: Apache-2.0
// A picture by its true seek index: the pixels are the same. By any bytes as its index, and by a
// lying one whose checksums are right: the pixels may be wrong then, but nothing may be read or
// written that is not the decoder's.
// The length chooses the vector unit; in order it is decoded by none.
// Input: how much of it is the index, where the box lies, index bytes, picture.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "headrace/decode/jpeg/region.h"
#include "headrace/decode/vector_units.h"

namespace headrace::jpeg {
namespace {

constexpr std::uint32_t kMostPixels = 1U << 18U;

/// The true checkpoints, with `noise` over them.
std::vector<std::byte> lying_index(const SeekIndex& truth, ByteSpan noise, const Hash128& payload) {
  std::vector<Checkpoint> checkpoints;
  for (std::uint32_t row = 0; row < truth.rows(); ++row) {
    for (std::uint32_t i = 0; i < truth.per_row(); ++i) checkpoints.push_back(truth.at(row, i));
  }
  for (std::size_t i = 0; i + 1 < noise.size() && !checkpoints.empty(); i += 2) {
    const auto where = std::to_integer<std::size_t>(noise[i]);
    const auto what = std::to_integer<std::uint32_t>(noise[i + 1]);
    Checkpoint& checkpoint = checkpoints[(where >> 2U) % checkpoints.size()];
    if ((where & 3U) == 3) {
      checkpoint.bit ^= 1U << (what % 28);
    } else {
      std::int16_t& predictor = checkpoint.predictors[where & 3U];
      predictor = static_cast<std::int16_t>(predictor ^ (1 << (what % 11)));
    }
  }
  return SeekIndex::serialise(checkpoints, truth.interval(), payload);
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
  (void)use_vector_unit(kVectorUnits[size % kVectorUnits.size()]);
  RegionDecoder decoder;
  decoder.set_least_scouted(0);
  if (!decoder.open(picture).empty()) return 0;
  if (std::uint64_t{decoder.width()} * decoder.height() > kMostPixels) return 0;
  const Box box = box_of(data[1], decoder.width(), decoder.height());
  const std::size_t stride = std::size_t{box.width} * 3;
  std::vector<std::uint8_t> rgb(stride * box.height);
  const Hash128 payload = hash_bytes(picture);
  decoder.decode_indexed(box, rgb.data(), stride, noise, payload);
  const std::uint32_t interval = 1 + data[0] % 9U;
  if (!decoder.decode(box, rgb.data(), stride, interval)) return 0;
  const auto recorded = decoder.seek_index(payload);
  // Scouts, which the one above may have sent, find nothing else, on whatever unit.
  (void)use_vector_unit(VectorUnit::plain);
  RegionDecoder in_order;
  std::vector<std::uint8_t> same(rgb.size());
  in_order.set_least_scouted(~std::size_t{0} / 8);
  if (!in_order.open(picture).empty()) std::abort();
  if (!in_order.decode(box, same.data(), stride, interval) || same != rgb) std::abort();
  if (in_order.seek_index(payload) != recorded) std::abort();
  (void)use_vector_unit(kVectorUnits[size % kVectorUnits.size()]);
  const auto headers = parse(picture).headers;
  const auto truth = SeekIndex::open(recorded, payload, *headers);
  if (!truth) return 0;  // restart intervals, or predictors that no encoder makes
  std::vector<std::uint8_t> again(rgb.size());
  if (!decoder.decode_indexed(box, again.data(), stride, recorded, payload)) std::abort();
  if (again != rgb) std::abort();
  decoder.decode_indexed(box, rgb.data(), stride, lying_index(*truth, noise, payload), payload);
  // And with nothing true in it.
  std::vector<Checkpoint> any(std::size_t{truth->rows()} * truth->per_row());
  for (std::size_t i = 0; i < any.size() && !noise.empty(); ++i) {
    any[i].bit = std::to_integer<std::uint32_t>(noise[i % noise.size()]) << (i % 20);
  }
  decoder.decode_indexed(box, rgb.data(), stride,
                         SeekIndex::serialise(any, truth->interval(), payload), payload);
  return 0;
}
