// SPDX-License-Identifier: Apache-2.0
/// \file The arithmetic of a JPEG behind its entropy coding: inverse DCT, upsampling, colour.
///
/// Pure functions on spans of memory; thread-safe. Two forms each: `scalar` says what is meant,
/// the vector form (Highway: AVX-512, AVX2, SSE4, NEON, chosen at run time) is equal bit by bit.
/// The reference is libjpeg-turbo 2.1.5's accurate SIMD path, order of operations included, so
/// that out-of-range coefficients match too: 16-bit wrap in the sums, saturating packs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::jpeg {

/// Coefficients of four horizontal neighbours. What the inverse DCT multiplies together lies
/// together: line i of block b is the eight values at [i * 32 + b * 8], two rows (0 and 4, 2 and 6,
/// 1 and 7, 3 and 5) by turns, of columns 0 4 2 6 in one line, of 1 7 3 5 in the next.
inline constexpr std::size_t kGroupBlocks = 4;
inline constexpr std::size_t kGroupSize = 256;
/// Which of a block's 64 values this coefficient is, line by line.
constexpr std::size_t place_in_block(std::size_t row, std::size_t column) {
  constexpr std::array<std::size_t, 8> kPairOfRow = {0, 2, 1, 3, 0, 3, 1, 2};
  constexpr std::array<std::size_t, 8> kPlaceOfColumn = {0, 4, 2, 6, 1, 7, 3, 5};
  const std::size_t place = kPlaceOfColumn[column];
  return kPairOfRow[row] * 16 + place / 4 * 8 + place % 4 * 2 + (row >= 4 ? 1 : 0);
}
/// The same in a group, of its first block.
constexpr std::size_t place_in_group(std::size_t row, std::size_t column) {
  const std::size_t place = place_in_block(row, column);
  return place / 8 * 32 + place % 8;
}
/// Quantisation factors in natural order, in the order of the coefficients.
constexpr std::array<std::uint16_t, 64> in_block_order(const std::array<std::uint16_t, 64>& quant) {
  std::array<std::uint16_t, 64> out{};
  for (std::size_t i = 0; i < 64; ++i) out[place_in_block(i / 8, i % 8)] = quant[i];
  return out;
}
/// Where the block of this column begins in a row of blocks.
constexpr std::size_t block_offset(std::size_t column) {
  return column / kGroupBlocks * kGroupSize + column % kGroupBlocks * 8;
}
/// Every row of pixels has this much room behind its end (and before its start): the vector
/// forms read and write whole vectors.
inline constexpr std::size_t kRowSlack = 64;

namespace scalar {
/// Dequantises and transforms four blocks; writes 8 rows of 32 samples. `quant` is in_block_order.
void idct_group(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride);
/// Fancy upsampling of `count` samples to 2 × count. Reads in[-1] and in[count]; at a picture's
/// edge they are copies of the edge sample.
void upsample_h2v1(const std::uint8_t* in, std::uint8_t* out, std::size_t count);
/// The same in both directions: `near` is the chroma row of this line, `far` the next nearest.
void upsample_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                   std::size_t count);
void ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                std::uint8_t* rgb, std::size_t count);
}  // namespace scalar

/// `groups` times four blocks, side by side.
void idct_groups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                 std::size_t stride, std::size_t groups);
void upsample_h2v1(const std::uint8_t* in, std::uint8_t* out, std::size_t count);
void upsample_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                   std::size_t count);
void ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                std::uint8_t* rgb, std::size_t count);
/// The same pixels as three planes, each with kRowSlack bytes of room behind its end.
void ycc_to_planes(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                   std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue, std::size_t count);

/// One dimension of the accurate inverse DCT's constants: round(x · 2^13).
struct Dct {
  static constexpr std::int16_t k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270,
                                k0_899 = 7373, k1_175 = 9633, k1_501 = 12299, k1_847 = 15137,
                                k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
  static constexpr int kConstBits = 13;
  static constexpr int kPass1Bits = 2;
};

}  // namespace headrace::jpeg
