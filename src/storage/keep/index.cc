// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/index.h"

#include <algorithm>
#include <cstring>

#include "headrace/base/random.h"

namespace headrace::keep {
namespace {

constexpr std::uint64_t kCell = std::uint64_t{64} << 10U;
constexpr std::uint64_t kCellsBack = kLongestPiece / kCell;  // a piece reaches so far at most
constexpr std::uint64_t kFirstCapacity = 1024;

/// The object's name is a hash already: it only needs to differ for each cell.
Hash128 cell_of(const Hash128& object, std::uint64_t cell) {
  return {object.high ^ mix64(cell), object.low ^ mix64(~cell)};
}

}  // namespace

const Piece* Index::find(const Hash128& object, std::uint64_t offset) const {
  if (capacity_ == 0) return nullptr;
  const Piece* best = nullptr;
  const std::uint64_t last = offset / kCell;
  for (std::uint64_t back = 0; back <= std::min(kCellsBack, last); ++back) {
    const Hash128 cell = cell_of(object, last - back);
    for (std::uint64_t at = home(cell);; at = (at + 1) & (capacity_ - 1)) {
      const Piece& piece = slots()[at];
      if (piece.filled == 0) break;
      if (piece.cell != cell || !usable(piece)) continue;
      if (piece.offset > offset || piece.offset + piece.length <= offset) continue;
      if (best == nullptr || piece.offset + piece.length > best->offset + best->length)
        best = &piece;
    }
    if (best != nullptr) break;  // a piece that begins farther back is a rare gain
  }
  return best;
}

bool Index::holds(const Hash128& object, std::uint64_t offset, std::uint32_t length) const {
  if (capacity_ == 0) return false;
  const Hash128 cell = cell_of(object, offset / kCell);
  for (std::uint64_t at = home(cell);; at = (at + 1) & (capacity_ - 1)) {
    const Piece& piece = slots()[at];
    if (piece.filled == 0) return false;
    if (piece.cell == cell && piece.offset == offset && piece.length == length && usable(piece))
      return true;
  }
}

Result<void> Index::insert(const Hash128& object, Piece piece) {
  if (filled_ * 10 >= capacity_ * 7) {
    std::uint64_t usable_places = 0;
    for (std::uint64_t i = 0; i < capacity_; ++i) usable_places += usable(slots()[i]) ? 1 : 0;
    HEADRACE_TRY(grow(usable_places * 7 / 4));  // at most 40 % full afterwards
  }
  piece.cell = cell_of(object, piece.offset / kCell);
  piece.filled = 1;
  for (std::uint64_t at = home(piece.cell);; at = (at + 1) & (capacity_ - 1)) {
    Piece& slot = slots()[at];
    if (slot.filled == 0) break;
    if (slot.cell == piece.cell && slot.offset == piece.offset && slot.length == piece.length) {
      if (slot.segment == 0) ++live_;
      slot = piece;
      return {};
    }
  }
  place(piece);
  ++live_;
  return {};
}

void Index::place(const Piece& piece) {
  for (std::uint64_t at = home(piece.cell);; at = (at + 1) & (capacity_ - 1)) {
    Piece& slot = slots()[at];
    if (slot.filled != 0) continue;
    slot = piece;
    ++filled_;
    return;
  }
}

void Index::drop(const Piece& piece) {
  if (capacity_ == 0) return;
  for (std::uint64_t at = home(piece.cell);; at = (at + 1) & (capacity_ - 1)) {
    Piece& slot = slots()[at];
    if (slot.filled == 0) return;
    if (slot.cell == piece.cell && slot.segment == piece.segment &&
        slot.data_offset == piece.data_offset) {
      slot.segment = 0;
      --live_;
      return;
    }
  }
}

Result<void> Index::reserve(std::uint64_t entries) {
  if ((filled_ + entries) * 10 < capacity_ * 7) return {};
  return grow(filled_ + entries);
}

Result<void> Index::grow(std::uint64_t entries) {
  std::uint64_t wanted = kFirstCapacity;
  while (entries * 10 >= wanted * 7) wanted *= 2;
  HEADRACE_TRY(auto file, MappedFile::temporary());
  HEADRACE_TRY(file.reserve(wanted * sizeof(Piece)));  // a new file is full of zeros
  std::swap(file, file_);
  const std::uint64_t before = std::exchange(capacity_, wanted);
  filled_ = live_ = 0;
  const auto* old = static_cast<const Piece*>(static_cast<const void*>(file.data()));
  for (std::uint64_t i = 0; i < before; ++i) {
    if (!usable(old[i])) continue;
    place(old[i]);
    ++live_;
  }
  return {};
}

}  // namespace headrace::keep
