// SPDX-License-Identifier: Apache-2.0
/// \file Long stretches of a CRC by carry-less multiplication: 64 bytes a step, about as fast as
/// memory gives them.
///
/// Pure. For reflected CRCs of 32 and 64 bits; checksum.cc uses it. The method is Intel's "Fast CRC
/// computation using PCLMULQDQ": a stretch is moved forward by multiplying it with a power of x
/// modulo the polynomial, and added to the one that lies there.
#pragma once

#include <array>
#include <cstdint>

#include "headrace/base/bytes.h"

namespace headrace::s3 {

/// What moves 16 bytes forward: their first eight by the first factor, the last by the second.
/// Bit i stands for x^(63 - i).
struct CrcFactors {
  /// The powers of x that they are, modulo the polynomial. (A product of two is one x short.)
  static constexpr std::array<std::uint64_t, 2> powers(std::uint64_t bytes) {
    return {8 * bytes + 63, 8 * bytes - 1};
  }
  std::array<std::uint64_t, 2> by64;
  std::array<std::uint64_t, 2> by16;
};

/// The processor can.
bool can_fold();

/// Sixteen bytes that leave a CRC of state 0 as `bytes` leave one of state `state`.
/// REQUIRES: can_fold(); bytes.size() is a multiple of 16, and at least 64.
std::array<std::byte, 16> fold(const CrcFactors& factors, std::uint64_t state, ByteSpan bytes);

}  // namespace headrace::s3
