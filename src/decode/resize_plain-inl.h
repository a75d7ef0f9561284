// SPDX-License-Identifier: Apache-2.0
/// \file The plain form of resize_kernels: what the others must equal. Once for each target.
#include "headrace/decode/resize_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::HWY_NAMESPACE {

constexpr std::int32_t kHalf = 1 << (ResizeTable::kBits - 1);

inline std::uint8_t Clip8(std::int32_t sum) {
  const std::int32_t value = sum >> ResizeTable::kBits;
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

inline void PlanAcross(const ResizeTable& /*table*/, AcrossPlan& /*plan*/) {}

inline void RunAcross(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const ResizeTable& table = *plan.table;
  const std::uint32_t outputs = table.outputs();
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::uint32_t i = 0; i < outputs; ++i) {
      const std::int32_t* weights = table.weights_of(i);
      const std::uint8_t* at = row[p] + table.first[i];
      std::int32_t sum = kHalf;
      for (std::uint32_t t = 0; t < table.count[i]; ++t) sum += at[t] * weights[t];
      out[p][i] = Clip8(sum);
    }
  }
}

inline void RunDown(const std::uint8_t* const* rows, const std::int32_t* weights,
                    std::uint32_t taps, std::uint32_t width, std::uint8_t* HWY_RESTRICT out) {
  constexpr std::uint32_t kPiece = 64;
  for (std::uint32_t x = 0; x < width; x += kPiece) {
    const std::uint32_t size = width - x < kPiece ? width - x : kPiece;
    std::int32_t sums[kPiece];
    for (std::uint32_t i = 0; i < size; ++i) sums[i] = kHalf;
    for (std::uint32_t t = 0; t < taps; ++t) {
      const std::uint8_t* row = rows[t] + x;
      for (std::uint32_t i = 0; i < size; ++i) sums[i] += row[i] * weights[t];
    }
    for (std::uint32_t i = 0; i < size; ++i) out[x + i] = Clip8(sums[i]);
  }
}

inline void SplitRgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out) {
  for (std::size_t x = 0; x < width; ++x) {
    out[0][x] = rgb[3 * x];
    out[1][x] = rgb[3 * x + 1];
    out[2][x] = rgb[3 * x + 2];
  }
}

inline void JoinRgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb) {
  for (std::size_t x = 0; x < width; ++x) {
    rgb[3 * x] = row[0][x];
    rgb[3 * x + 1] = row[1][x];
    rgb[3 * x + 2] = row[2][x];
  }
}

inline void ToFloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                    float* out) {
  for (std::uint32_t x = 0; x < width; ++x) out[x] = static_cast<float>(in[x]) * scale + bias;
}

inline void StreamFloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                        float* out) {
  ToFloat(in, width, scale, bias, out);
}

}  // namespace headrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
