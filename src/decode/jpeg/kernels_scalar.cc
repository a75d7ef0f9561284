// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headrace/decode/jpeg/kernels.h"

namespace headrace::jpeg::scalar {
namespace {

std::int16_t wrap16(std::int32_t x) { return static_cast<std::int16_t>(x); }
std::int16_t saturate16(std::int32_t x) {
  return static_cast<std::int16_t>(std::clamp(x, -32768, 32767));
}

/// Eight values in, eight out, in place with a step: the whole of one dimension.
void idct_1d(std::int16_t* data, std::size_t step, int descale) {
  using D = Dct;
  const auto in = [&](std::size_t i) { return std::int32_t{data[i * step]}; };
  const auto shl13 = [](std::int32_t x) { return x * (1 << D::kConstBits); };

  const std::int32_t tmp2 = in(2) * D::k0_541 + in(6) * (D::k0_541 - D::k1_847);
  const std::int32_t tmp3 = in(2) * (D::k0_541 + D::k0_765) + in(6) * D::k0_541;
  const std::int32_t tmp0 = shl13(wrap16(in(0) + in(4)));
  const std::int32_t tmp1 = shl13(wrap16(in(0) - in(4)));
  const std::array<std::int32_t, 4> even = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};

  const std::int32_t z3 = wrap16(in(7) + in(3));
  const std::int32_t z4 = wrap16(in(5) + in(1));
  const std::int32_t z3p = z3 * (D::k1_175 - D::k1_961) + z4 * D::k1_175;
  const std::int32_t z4p = z3 * D::k1_175 + z4 * (D::k1_175 - D::k0_390);
  const std::array<std::int32_t, 4> odd = {
      in(1) * (D::k1_501 - D::k0_899) - in(7) * D::k0_899 + z4p,
      in(3) * (D::k3_072 - D::k2_562) - in(5) * D::k2_562 + z3p,
      in(5) * (D::k2_053 - D::k2_562) - in(3) * D::k2_562 + z4p,
      in(7) * (D::k0_298 - D::k0_899) - in(1) * D::k0_899 + z3p};

  const std::int32_t round = 1 << (descale - 1);
  for (std::size_t i = 0; i < 4; ++i) {
    data[i * step] = saturate16((even[i] + odd[i] + round) >> descale);
    data[(7 - i) * step] = saturate16((even[i] - odd[i] + round) >> descale);
  }
}

void idct_block(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride) {
  std::array<std::int16_t, 64> block{};
  bool only_first_row = true;
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      const std::int16_t c = coefficients[place_in_group(row, column)];
      only_first_row = only_first_row && (row == 0 || c == 0);
      block[row * 8 + column] = wrap16(c * quant[place_in_block(row, column)]);
    }
  }
  if (only_first_row) {  // the reference's shortcut: it wraps where the general way saturates
    for (std::size_t i = 64; i-- > 0;) block[i] = wrap16(block[i % 8] * (1 << Dct::kPass1Bits));
  } else {
    for (std::size_t c = 0; c < 8; ++c) idct_1d(&block[c], 8, Dct::kConstBits - Dct::kPass1Bits);
  }
  for (std::size_t r = 0; r < 8; ++r) {
    idct_1d(&block[r * 8], 1, Dct::kConstBits + Dct::kPass1Bits + 3);
    for (std::size_t c = 0; c < 8; ++c) {
      out[r * stride + c] =
          static_cast<std::uint8_t>(std::clamp<int>(block[r * 8 + c], -128, 127) + 128);
    }
  }
}

std::uint8_t clamp8(std::int32_t x) { return static_cast<std::uint8_t>(std::clamp(x, 0, 255)); }

}  // namespace

void idct_group(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride) {
  for (std::size_t b = 0; b < kGroupBlocks; ++b) {
    idct_block(coefficients + b * 8, quant, out + b * 8, stride);
  }
}

void upsample_h2v1(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* at = in + i;
    out[2 * i] = static_cast<std::uint8_t>((3 * at[0] + at[-1] + 1) >> 2);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * at[0] + at[1] + 2) >> 2);
  }
}

void upsample_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                   std::size_t count) {
  const auto column = [&](std::ptrdiff_t i) { return 3 * near[i] + far[i]; };
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    out[2 * i] = static_cast<std::uint8_t>((3 * column(at) + column(at - 1) + 8) >> 4);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * column(at) + column(at + 1) + 7) >> 4);
  }
}

void ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                std::uint8_t* rgb, std::size_t count) {
  constexpr std::int32_t half = 1 << 15;  // factors: round(x · 2^16), ITU-R BT.601 by JFIF
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t b = cb[i] - 128;
    const std::int32_t r = cr[i] - 128;
    rgb[3 * i] = clamp8(y[i] + ((91881 * r + half) >> 16));
    rgb[3 * i + 1] = clamp8(y[i] + ((-22554 * b - 46802 * r + half) >> 16));
    rgb[3 * i + 2] = clamp8(y[i] + ((116130 * b + half) >> 16));
  }
}

}  // namespace headrace::jpeg::scalar
