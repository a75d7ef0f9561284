// SPDX-License-Identifier: Apache-2.0
/// \file lanes.h for a target that has lanes. Included once for each.
//
// Two steps by turns. First all lanes look (lanes_looks_*-inl.h): a gather fetches their entries,
// which are kept as they are, with a mask of the places of the values that their blocks have so
// far. Then (lanes_values_*-inl.h) values are taken out of the entries, and of each block that has
// ended spread to their places, brought from zigzag order to that of the inverse DCT, and stored.
// Nothing in the first step depends on what the bits mean: there is no branch, so none is
// mispredicted, and what one lane waits for, the others hide.
#include <array>
#include <cstring>
#include <limits>

#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/lanes_looks-inl.h"
#if HEADRACE_LANES == 512
#include "headrace/decode/jpeg/lanes_values_avx512-inl.h"
#else
#include "headrace/decode/jpeg/lanes_values_avx2-inl.h"
#endif

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

/// Of a lane's values that wait for the end of their block: it has 64 at most, each tile brings
/// two a look, and more are stored than there are.
constexpr std::size_t kRoom = 256;
constexpr std::size_t kTilesToRoom = (kRoom - 64 - kValuesAtOnce) / (2 * kTile);

class Lanes {
 public:
  explicit Lanes(const LaneJob& job) : job_(job), looks_(job) {}

  bool run() {
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) begin_next(lane);
    for (std::size_t tiles = 1; working_ > 0; ++tiles) {
      looks_.run();
      take_values(looks_.tile(), lanes_);
      if (!take_blocks()) return false;
      if (tiles % kTilesToRoom == 0 && !make_room()) return false;
    }
    return true;
  }

 private:
  struct Lane {
    std::int16_t* values = nullptr;  ///< of the block at hand
    std::int16_t* end = nullptr;     ///< where the next ones go
    const RowBlock* block = nullptr;
    std::uint32_t left = 0;  ///< blocks; 0: what the lane reads means nothing
    std::int16_t* out = nullptr;
    std::array<std::int16_t, 3> predictors{};
  };

  /// The lane goes on with the next stretch, if there is one.
  void begin_next(std::size_t lane) {
    Lane& l = lanes_[lane];
    l.values = l.end = values_[lane];
    if (next_ == job_.stretches.size()) return looks_.begin(lane, job_.limit);
    const LaneStretch& stretch = job_.stretches[next_++];
    looks_.begin(lane, stretch.position);
    l.block = job_.row.data() + stretch.first_block;
    l.left = stretch.blocks;
    l.out = stretch.out;
    l.predictors = stretch.predictors;
    ++working_;
  }

  /// The blocks that ended in this tile.
  bool take_blocks() {
    const Tile& tile = looks_.tile();
    std::array<std::uint8_t, kMostEnded> ended;
    const std::size_t count = list_ended(tile, ended);
    std::array<std::uint8_t, kLaneCount> over;  // lanes whose stretch is
    std::size_t over_count = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t lane = ended[i] % kDoneBits, look = ended[i] / kDoneBits;
      if (lanes_[lane].left == 0) continue;
      if (HWY_UNLIKELY((tile.bad[look] >> lane & 1U) != 0)) return false;
      take_block(lanes_[lane], tile.notes[look][lane]);
      if (lanes_[lane].left == 0) over[over_count++] = static_cast<std::uint8_t>(lane);
    }
    for (std::size_t i = 0; i < over_count; ++i, --working_) begin_next(over[i]);
    return true;
  }

  static void take_block(Lane& lane, std::uint64_t places) {
    const RowBlock& block = *lane.block++;
    std::int16_t* const out = lane.out + block.out;
    spread(lane.values, places, out);
    std::int16_t& dc = lane.predictors[block.component];
    dc = static_cast<std::int16_t>(dc + *lane.values);
    out[0] = dc;
    lane.values += std::popcount(places);
    --lane.left;
  }

  /// What waits goes to the beginning of its room.
  bool make_room() {
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      Lane& lane = lanes_[i];
      const std::ptrdiff_t waiting = lane.left > 0 ? lane.end - lane.values : 0;
      if (waiting > 64) return false;  // values beyond the end of a block: wrong bits
      std::memmove(values_[i], lane.values, 64 * sizeof(std::int16_t));
      lane.values = values_[i];
      lane.end = values_[i] + waiting;
    }
    return true;
  }

  const LaneJob& job_;
  Looks<LookFor::values> looks_;
  std::array<Lane, kLaneCount> lanes_{};
  std::size_t next_ = 0;     ///< of the stretches
  std::size_t working_ = 0;  ///< lanes
  alignas(64) std::int16_t values_[kLaneCount][kRoom + kValuesAtOnce];
};

bool DecodeLanes(const LaneJob& job) {
  if (job.limit > std::numeric_limits<std::uint32_t>::max() - 64) return false;
  return Lanes(job).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
