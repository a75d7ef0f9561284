// SPDX-License-Identifier: Apache-2.0
// Parts of what is kept, by the hashes of who saw the whole: pieces are not read whole for them.
#include <fmt/format.h>

#include <algorithm>

#include "headrace/storage/block.h"
#include "headrace/storage/keep/cache.h"

namespace headrace::keep {
namespace {

/// Bytes of the range that lie side by side in one data file.
struct Stretch {
  std::shared_ptr<Segment> segment;
  std::uint64_t data_offset = 0;
  std::uint64_t begin = 0;  ///< in the range
  std::uint64_t end = 0;
};

/// Where the bytes from `begin` up to `end` of the range lie.
std::vector<Stretch> stretches_of(const Parts& parts, std::uint64_t begin, std::uint64_t end) {
  std::vector<Stretch> found;
  std::uint64_t at = 0;  // where the part begins
  for (const Part& part : parts) {
    const std::uint64_t from = std::max(begin, at), to = std::min(end, at + part.length);
    if (from < to) {
      const std::uint64_t place = part.piece.data_offset + part.skip + (from - at);
      const bool goes_on = !found.empty() && found.back().segment == part.segment &&
                           found.back().data_offset + (from - found.back().begin) == place;
      if (goes_on) {
        found.back().end = to;
      } else {
        found.push_back({part.segment, place, from, to});
      }
    }
    at += part.length;
  }
  return found;
}

/// The parts that hold some of these bytes.
Parts holding(const Parts& parts, std::uint64_t begin, std::uint64_t end) {
  Parts found;
  std::uint64_t at = 0;
  for (const Part& part : parts) {
    if (at < end && begin < at + part.length) found.push_back(part);
    at += part.length;
  }
  return found;
}

}  // namespace

void Cache::forget_damage(const Parts& parts, const Error& error) {
  drop(parts);
  if (error.code() != Code::corrupt) return;
  const MutexLock lock(mutex_);
  ++damaged_;
}

Result<Bytes> Cache::read_blocks(const Parts& parts, const WantedParts& wanted) {
  HEADRACE_TRY(auto bytes, read_blocks(parts, wanted, true));
  if (!bytes) return Error(Code::unavailable, "not read").at(disk_->describe());  // cannot be
  return *std::move(bytes);
}

Result<std::optional<Bytes>> Cache::read_blocks(const Parts& parts, const WantedParts& wanted,
                                                bool wait) {
  std::uint64_t total = 0;
  for (const Part& part : parts) total += part.length;
  Buffer buffer = make_block(total);
  const std::span<std::byte> range = buffer.span();
  std::uint64_t filled = 0;
  if (const ByteSpan known = wanted.known.span(); !known.empty()) {
    std::ranges::fill(range.first(wanted.known_at), std::byte{0});
    std::ranges::copy(known, range.begin() + static_cast<std::ptrdiff_t>(wanted.known_at));
    filled = wanted.known_at + known.size();
  }
  const std::vector<CheckedBlock>& blocks = wanted.blocks;
  for (std::size_t i = 0; i < blocks.size();) {
    const std::uint64_t begin = blocks[i].offset;
    std::uint64_t end = begin;
    std::size_t next = i;
    for (; next < blocks.size() && blocks[next].offset == end; ++next) end += blocks[next].length;
    std::ranges::fill(range.subspan(filled, begin - filled), std::byte{0});
    filled = end;
    for (const Stretch& stretch : stretches_of(parts, begin, end)) {
      auto got = stretch.segment->read(
          stretch.data_offset, range.subspan(stretch.begin, stretch.end - stretch.begin), wait);
      if (got && !*got) return std::optional<Bytes>();
      if (got) continue;
      forget_damage(holding(parts, stretch.begin, stretch.end), got.error());
      return std::move(got).error().at(disk_->describe());
    }
    for (; i < next; ++i) {
      const CheckedBlock& block = blocks[i];
      if (hash_bytes(range.subspan(block.offset, block.length)).low == block.check) continue;
      const Parts bad = holding(parts, block.offset, block.offset + block.length);
      Error error(Code::corrupt, fmt::format("{} bytes at {} of a piece do not match their hash",
                                             block.length, block.offset));
      forget_damage(bad, error);
      return std::move(error).at(
          fmt::format("{}/{}", disk_->describe(), data_name(bad.front().segment->name())));
    }
  }
  std::ranges::fill(range.subspan(filled), std::byte{0});
  return std::optional(std::move(buffer).freeze(total));
}

}  // namespace headrace::keep
