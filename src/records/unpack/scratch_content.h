// SPDX-License-Identifier: Apache-2.0
/// \file What one compressed object holds, in a scratch file.
///
/// Immutable once it is made: thread-safe. The scratch file must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "headrace/base/scratch_file.h"
#include "headrace/records/unpack/unpacked_store.h"

namespace headrace {

class ScratchContent {
 public:
  /// All that `source` gives; what is damaged goes into `Inside::failure`. `wanted` is asked
  /// between pieces: `cancelled` once it is false.
  static Result<std::unique_ptr<ScratchContent>> make(ByteSource& source, ScratchFile& file,
                                                      const std::function<bool()>& wanted);

  const Inside& inside() const { return inside_; }
  Result<Bytes> read(const ByteRange& range) const;
  /// False if a piece that holds some of it is not what was stored.
  Result<bool> is_intact(const ByteRange& range) const;

 private:
  explicit ScratchContent(ScratchFile& file) : file_(file) {}
  Result<void> fill(ByteSource& source, const std::function<bool()>& wanted);
  Result<void> store(ByteSpan piece);

  static constexpr std::uint64_t kPiece = 1U << 20U;

  ScratchFile& file_;
  Inside inside_;
  struct Piece {
    std::uint64_t offset = 0;  ///< anywhere in the file
    Hash128 hash;
  };
  std::vector<Piece> pieces_;  ///< of kPiece bytes, but for the last
};

}  // namespace headrace
