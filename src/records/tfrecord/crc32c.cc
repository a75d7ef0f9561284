// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace headrace {
namespace {

// Bit i of a CRC word is the coefficient of x^(31 - i).
constexpr std::uint32_t kPolynomial = 0x82f63b78;
constexpr std::uint32_t kX8 = 1U << 23U;

/// a × b modulo the polynomial.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1U) != 0 ? (b >> 1U) ^ kPolynomial : b >> 1U;
  }
  return product;
}

/// x^(8 n): what n zero bytes multiply a CRC by.
constexpr std::uint32_t zeros(std::size_t n) {
  std::uint32_t power = 1U << 31U;
  for (std::uint32_t square = kX8; n != 0; n >>= 1U, square = multiply(square, square))
    if ((n & 1U) != 0) power = multiply(power, square);
  return power;
}

/// A linear map of words, looked up a byte at a time.
class Map {
 public:
  constexpr explicit Map(std::uint32_t factor) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint32_t image = multiply(factor, 1U << bit);
      auto& row = rows_[bit / 8];
      for (unsigned byte = 0; byte < 256; ++byte)
        if ((byte >> (bit % 8) & 1U) != 0) row[byte] ^= image;
    }
  }
  constexpr std::uint32_t operator()(std::uint32_t word) const {
    return rows_[0][word & 0xffU] ^ rows_[1][word >> 8U & 0xffU] ^ rows_[2][word >> 16U & 0xffU] ^
           rows_[3][word >> 24U];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> rows_{};
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t portable(const std::byte* at, std::size_t count, std::uint32_t state) {
  // The next four bytes of a word, and four more behind it: eight at a time.
  static constexpr Map kNear(zeros(4));
  static constexpr Map kFar(zeros(8));
  for (; count >= 8; count -= 8, at += 8)
    state = kFar(state ^ load<std::uint32_t>(at)) ^ kNear(load<std::uint32_t>(at + 4));
  for (; count != 0; --count, ++at)
    state = kNear((state ^ static_cast<std::uint32_t>(*at)) << 24U) ^ state >> 8U;
  return state;
}

#ifdef __x86_64__
/// The instruction takes 8 bytes a cycle and answers after 3: so three stretches go side by side.
constexpr std::size_t kLong = 8192;
constexpr std::size_t kShort = 256;

template <std::size_t kStretch>
__attribute__((target("sse4.2"))) std::uint64_t three_stretches(const std::byte*& at,
                                                                std::size_t& count,
                                                                std::uint64_t state) {
  static constexpr Map kOver(zeros(kStretch));
  for (; count >= 3 * kStretch; count -= 3 * kStretch, at += 3 * kStretch) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kStretch; i += 8) {
      state = __builtin_ia32_crc32di(state, load<std::uint64_t>(at + i));
      second = __builtin_ia32_crc32di(second, load<std::uint64_t>(at + kStretch + i));
      third = __builtin_ia32_crc32di(third, load<std::uint64_t>(at + 2 * kStretch + i));
    }
    state = kOver(static_cast<std::uint32_t>(state)) ^ second;
    state = kOver(static_cast<std::uint32_t>(state)) ^ third;
  }
  return state;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const std::byte* at,
                                                               std::size_t count,
                                                               std::uint32_t before) {
  std::uint64_t state = before;
  state = three_stretches<kLong>(at, count, state);
  state = three_stretches<kShort>(at, count, state);
  for (; count >= 8; count -= 8, at += 8)
    state = __builtin_ia32_crc32di(state, load<std::uint64_t>(at));
  auto word = static_cast<std::uint32_t>(state);
  for (; count != 0; --count, ++at)
    word = __builtin_ia32_crc32qi(word, static_cast<unsigned char>(*at));
  return word;
}

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(ByteSpan bytes, std::uint32_t before) {
  return ~portable(bytes.data(), bytes.size(), ~before);
}

std::uint32_t crc32c(ByteSpan bytes, std::uint32_t before) {
#ifdef __x86_64__
  if (has_instruction()) return ~by_instruction(bytes.data(), bytes.size(), ~before);
#endif
  return crc32c_portable(bytes, before);
}

}  // namespace headrace
