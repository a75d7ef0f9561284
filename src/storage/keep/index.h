// SPDX-License-Identifier: Apache-2.0
/// \file Which piece of which object lies where: a hash table in memory that the kernel can take
/// back, 48 bytes a place.
///
/// Not thread-safe. Pieces are filed under their object and the cell of 64 KiB in which they
/// begin, so that one that covers a given byte is found by looking at a few cells, and a read
/// need not ask for the very ranges that were kept.
#pragma once

#include <cstdint>
#include <functional>

#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"
#include "headrace/storage/keep/entry.h"

namespace headrace::keep {

struct Piece {
  Hash128 cell;              ///< key of the table
  std::uint64_t check = 0;   ///< low half of the payload's hash
  std::uint64_t offset = 0;  ///< in its object
  std::uint32_t length = 0;
  std::uint32_t data_offset = 0;  ///< in its segment
  std::uint32_t segment = 0;      ///< number, 1 and above; 0 = free, or dropped
  std::uint32_t filled = 0;       ///< 0: never used, a search ends here
};
static_assert(sizeof(Piece) == 48);

class Index {
 public:
  /// `alive` says whether a segment is still there: pieces of others are as good as absent.
  using Alive = std::function<bool(std::uint32_t segment)>;
  explicit Index(Alive alive) : alive_(std::move(alive)) {}

  /// A piece of the object that covers `offset`: of several the one that reaches farthest.
  /// Nothing if there is none. Valid until the next change.
  const Piece* find(const Hash128& object, std::uint64_t offset) const;
  /// Exactly this range.
  bool holds(const Hash128& object, std::uint64_t offset, std::uint32_t length) const;

  /// Replaces the piece of the same object, offset and length if there is one.
  /// `exhausted`: no room for the table.
  Result<void> insert(const Hash128& object, Piece piece);
  /// Forgets the piece where it lies, if it is still the one that is known.
  void drop(const Piece& piece);

  /// Makes room for so many at once, which is cheaper than growing to it.
  Result<void> reserve(std::uint64_t entries);

  std::uint64_t entries() const { return live_; }

 private:
  std::uint64_t home(const Hash128& cell) const { return cell.low & (capacity_ - 1); }
  Piece* slots() const { return static_cast<Piece*>(static_cast<void*>(file_.data())); }
  Result<void> grow(std::uint64_t entries);
  void place(const Piece& piece);
  bool usable(const Piece& piece) const { return piece.segment != 0 && alive_(piece.segment); }

  const Alive alive_;
  MappedFile file_;
  std::uint64_t capacity_ = 0;  ///< a power of two
  std::uint64_t filled_ = 0;    ///< places that a search passes, dropped ones too
  std::uint64_t live_ = 0;
};

}  // namespace headrace::keep
