// SPDX-License-Identifier: Apache-2.0
/// \file The cache itself, without threads: what is kept, where, and how it makes room.
///
/// Thread-safe; `append` is for one thread at a time. It blocks on the disk only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "headrace/base/clock.h"
#include "headrace/base/mutex.h"
#include "headrace/storage/keep/disk.h"
#include "headrace/storage/keep/index.h"
#include "headrace/storage/keep/segment.h"
#include "headrace/storage/keep/segment_writer.h"
#include "headrace/storage/part_reader.h"

namespace headrace::keep {

struct CacheOptions {
  std::string store;  ///< Store::describe() of what is kept
  /// Of the whole directory. 0: nine tenths of what is free or ours, and what is left free of the
  /// volume never falls below the last tenth by this cache, whoever else writes there.
  std::uint64_t limit = 0;
};

/// Some bytes of a piece, which together with others make a range.
struct Part {
  std::shared_ptr<Segment> segment;
  Piece piece;
  std::uint64_t skip = 0;    ///< bytes of the piece before the wanted ones
  std::uint64_t length = 0;  ///< wanted
};
using Parts = std::vector<Part>;

/// Bytes to keep: a range of an object.
struct Item {
  EntryKind kind = EntryKind::object;
  Hash128 object;
  std::uint64_t place = 0;
  std::uint64_t offset = 0;
  std::string name;
  Bytes bytes;
};

class Cache {
 public:
  Cache(std::unique_ptr<Disk> disk, CacheOptions options, Clock& clock);

  /// Reads the logs of what was kept earlier; no data.
  Result<void> load();

  /// The pieces that hold the whole range, or nothing. REQUIRES: length > 0
  std::optional<Parts> find(const Hash128& object, std::uint64_t offset, std::uint64_t length);
  /// The same for a read that a job makes now: it tells which segments are wanted still.
  std::optional<Parts> want(const Hash128& object, std::uint64_t offset, std::uint64_t length);
  /// A read that a job makes now, and of which `want` found nothing.
  void note_miss(const Hash128& object, std::uint64_t place);
  /// Their bytes, each piece verified. On damage (`corrupt`), or when the segment is gone, the
  /// piece is forgotten.
  Result<Bytes> read(const Parts& parts);
  /// The same without waiting for the disk: nothing if not all of it is in memory.
  Result<std::optional<Bytes>> read_at_hand(const Parts& parts) { return read(parts, false); }
  /// Of the range only what is wanted, as part_reader.h says. Damage as in `read`.
  Result<Bytes> read_blocks(const Parts& parts, const WantedParts& wanted);
  Result<std::optional<Bytes>> read_blocks_at_hand(const Parts& parts, const WantedParts& wanted) {
    return read_blocks(parts, wanted, false);
  }
  void drop(const Parts& parts);

  /// Keeps the items, or those that fit; gives the bytes of those that did not.
  /// An error: the disk failed; what was kept before stays.
  Result<std::uint64_t> append(std::span<const Item> items);

  /// Learns what other processes wrote and evicted.
  Result<void> refresh();

  std::uint64_t limit() const;
  std::uint64_t used() const;
  std::uint64_t entries() const;
  std::uint64_t damaged() const;
  std::uint64_t stored() const;
  std::string describe() const { return disk_->describe(); }
  Disk& disk() { return *disk_; }

 private:
  struct Known {
    std::shared_ptr<Segment> segment;  ///< null: not ours to read (damaged, another version)
    std::uint32_t number = 0;
  };

  /// Some of the places that a segment has pieces of, to notice that they were replaced.
  struct Sample {
    std::uint32_t segment = 0;
    std::uint64_t object = 0;  ///< low half of its id
  };

  std::optional<Parts> pieces_of(const Hash128& object, std::uint64_t offset, std::uint64_t length)
      HEADRACE_REQUIRES(mutex_);
  Result<std::optional<Bytes>> read(const Parts& parts, bool wait);
  Result<std::optional<Bytes>> read_blocks(const Parts& parts, const WantedParts& wanted,
                                           bool wait);
  void forget_damage(const Parts& parts, const Error& error);
  bool is_ours(const Segment& segment) const { return segment.header().store == options_.store; }
  Result<void> learn(const std::vector<DiskEntry>& listed) HEADRACE_REQUIRES(learning_);
  void adopt(const SegmentName& name) HEADRACE_REQUIRES(learning_);
  Result<void> follow(const Known& known) HEADRACE_REQUIRES(learning_);
  void note_place(const Entry& entry, std::uint32_t number) HEADRACE_REQUIRES(mutex_);
  void forget(const std::string& stem) HEADRACE_REQUIRES(learning_);
  Result<void> insert(const Segment& segment, std::uint32_t number, const Entry& entry);

  struct Measured {
    std::uint64_t used = 0;      ///< with all that the directory's writers may still write
    std::uint64_t promised = 0;  ///< of that what is not there yet
  };
  Result<Measured> measure();
  Result<bool> make_segment(std::uint64_t need);
  Result<bool> evict_one();
  void tidy(const std::vector<DiskEntry>& listed);
  std::uint32_t pass() const;
  std::uint64_t left_free() const;
  bool is_unwanted(std::uint32_t number) const;
  void end_segment();
  Result<bool> store_piece(const Item& item, std::uint64_t at, std::uint64_t length);
  Result<void> commit();

  const std::unique_ptr<Disk> disk_;
  const CacheOptions options_;
  Clock& clock_;

  Mutex learning_;  ///< held while logs are followed; never while waiting for `mutex_` holders
  std::map<std::string, Known> known_ HEADRACE_GUARDED_BY(learning_);
  std::uint64_t newest_ HEADRACE_GUARDED_BY(learning_) = 0;  ///< highest sequence seen

  mutable Mutex mutex_;
  Index index_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Segment>> segments_ HEADRACE_GUARDED_BY(mutex_);  ///< by number
  std::vector<std::uint32_t> replaced_ HEADRACE_GUARDED_BY(mutex_);  ///< seen so, by segment
  std::unordered_multimap<std::uint64_t, Sample> samples_
      HEADRACE_GUARDED_BY(mutex_);                                  ///< by place
  std::vector<std::uint32_t> sampled_ HEADRACE_GUARDED_BY(mutex_);  ///< places, by segment
  /// A pass ends when its first read comes again: then all that the job wants was asked for once.
  std::uint32_t pass_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::optional<std::pair<Hash128, std::uint64_t>> pass_began_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t limit_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_free_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< of the volume, at least
  std::uint64_t used_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t damaged_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t stored_ HEADRACE_GUARDED_BY(mutex_) = 0;

  // Only `append`'s thread:
  std::unique_ptr<SegmentWriter> writer_;
  std::shared_ptr<Segment> written_;  ///< the same segment, as readers see it
  std::uint32_t written_number_ = 0;
  Nanos full_until_{0};          ///< no room was found: not looked for again before,
  std::uint32_t full_pass_ = 0;  ///< or before another pass began
  std::vector<std::pair<Hash128, Piece>> uncommitted_;
  std::uint64_t serial_ = 0;
};

}  // namespace headrace::keep
