// SPDX-License-Identifier: Apache-2.0
/// \file Where each record of a set of containers lies: 16 bytes a record, in memory that the
/// kernel can take back.
///
/// Not thread-safe while it grows; any number of readers afterwards. Damage takes part: a stretch
/// that could not be read as records is one entry, so that the policy for bad samples applies to
/// it, it is counted, and no other sample's number depends on what is done about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/records/damage.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

struct Frame {
  std::uint64_t offset : 63;
  std::uint64_t damaged : 1;
  std::uint32_t length;
  std::uint32_t shard;
};
static_assert(sizeof(Frame) == 16);

/// Of one container. Only the first damages are kept in words.
class ShardFrames {
 public:
  static constexpr std::size_t kMaxDamage = 1000;

  static Result<ShardFrames> make();

  /// `name`: as Step has it.
  Result<void> add(std::uint64_t begin, std::uint64_t end,
                   const std::optional<Hash128>& name = std::nullopt);
  Result<void> add(Damage damage);
  /// What `other` holds from offset `from` on.
  Result<void> add(const ShardFrames& other, std::uint64_t from = 0);

  std::span<const Frame> frames() const { return frames_.span(); }
  const std::vector<Damage>& damage() const { return damage_; }
  /// True if a frame or a damage begins at `offset`.
  bool begins_at(std::uint64_t offset) const;

  /// When all are added: finds the frames whose name an earlier one has, and forgets the names.
  Result<void> find_repeats();
  /// Numbers of those frames, ascending.
  const std::vector<std::uint64_t>& repeats() const { return repeats_; }

  std::string source;  ///< "idx", "scan", "side-store"

  /// For a SideStore.
  std::vector<std::byte> to_bytes() const;
  /// `corrupt` if they are not what `to_bytes` made.
  static Result<ShardFrames> from_bytes(ByteSpan bytes);

 private:
  struct Named {
    Hash128 name;
    std::uint64_t offset = 0;

    auto operator<=>(const Named&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Result<void> add_names(std::span<const Named> names);

  MappedArray<Frame> frames_;
  std::optional<MappedArray<Named>> names_;  ///< in order of offset; none: no frame has one
  std::vector<std::uint64_t> repeats_;
  std::vector<Damage> damage_;
};

class ShardIndex {
 public:
  static Result<ShardIndex> make();

  /// In canonical order of shards.
  Result<void> add(const ObjectInfo& shard, const ShardFrames& frames);

  std::uint64_t size() const { return frames_.size(); }
  std::uint64_t frame_bytes(SampleId id) const { return frame(id).length; }
  Extent locate(SampleId id) const;
  /// "train.rec#41 @ 5321"
  std::string name(SampleId id) const;
  const Frame& frame(SampleId id) const { return frames_[static_cast<std::uint64_t>(id)]; }
  /// Number of the record within its shard.
  std::uint64_t record(SampleId id) const;
  /// True if a frame before it in its container has its name.
  bool is_repeat(SampleId id) const;
  /// `corrupt` with the reason, if the entry is damage.
  Result<void> check(SampleId id) const;

  struct Shard {
    ObjectInfo object;
    std::uint64_t first = 0;  ///< id of its first record
    std::string source;       ///< how its index was found
    std::vector<Damage> damage;
    std::vector<std::uint64_t> repeats;  ///< as ShardFrames has them
  };
  const std::vector<Shard>& shards() const { return shards_; }
  /// As Dataset has them.
  std::string source() const;
  std::vector<PlacedDamage> damage() const;
  Hash128 fingerprint() const;

 private:
  MappedArray<Frame> frames_;
  std::vector<Shard> shards_;
};

}  // namespace headrace
