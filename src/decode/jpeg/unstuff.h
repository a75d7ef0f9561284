// SPDX-License-Identifier: Apache-2.0
/// \file Entropy-coded bytes without the zeros that are stuffed behind each 0xff.
///
/// A pure function; thread-safe; vectors by Highway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::jpeg {

/// `unstuff` may write this much behind the end of what it says.
inline constexpr std::size_t kUnstuffSlack = 64;

/// Behind bytes that a decoder looks at without asking where they end, zeros are to stand; so there
/// is room for these, and for what `unstuff` may write.
inline constexpr std::size_t kLookZeros = 16;
inline constexpr std::size_t kLookSlack = kLookZeros + kUnstuffSlack;

struct Unstuffed {
  const std::uint8_t* from = nullptr;  ///< the 0xff of what ended it: no stuffed zero; or the end
  std::uint8_t* to = nullptr;          ///< the end of what was written
};

/// Copies to `to` until something else than a stuffed zero follows a 0xff, or `end` (a 0xff just
/// before it is copied: what follows is not known). If given,
/// `zeros` gets how many bytes had been written, from `origin` on, when each zero was left out.
Unstuffed unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to,
                  const std::uint8_t* origin = nullptr,
                  std::vector<std::uint32_t>* zeros = nullptr);

}  // namespace headrace::jpeg
