// SPDX-License-Identifier: Apache-2.0
/// \file For fuzzers, which link no test library: a check that ends the program, and a source that
/// hands its bytes over in pieces.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "headrace/base/bytes.h"
#include "headrace/records/byte_source.h"

namespace headrace::testing {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Pieces of `least` + 1, + 2, … up to + `cycle` bytes and again, without an end that is known
/// beforehand.
class PieceSource final : public ByteSource {
 public:
  explicit PieceSource(Bytes bytes, std::size_t least = 0, std::size_t cycle = 49)
      : bytes_(std::move(bytes)), least_(least), cycle_(cycle) {}
  Result<Bytes> next() override {
    const std::size_t count = std::min(least_ + 1 + turn_++ % cycle_, bytes_.size() - at_);
    at_ += count;
    return bytes_.slice(at_ - count, count);
  }

 private:
  const Bytes bytes_;
  const std::size_t least_;
  const std::size_t cycle_;
  std::size_t at_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace headrace::testing
