// SPDX-License-Identifier: Apache-2.0
/// \file scout.h for a target that has lanes. Included once for each.
#include <array>
#include <limits>

#include "headrace/decode/jpeg/lanes_looks-inl.h"
#include "headrace/decode/jpeg/scout.h"

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

class Scouts {
 public:
  Scouts(const LaneJob& job, std::size_t mcus, std::vector<std::vector<BlockEnd>>& memory)
      : job_(job),
        looks_(job),
        alike_(alike(job)),
        ends_(memory),
        left_(2 * mcus * job.slots + kTile * kLaneCount) {
    ends_.resize(kLaneCount);
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
      ends_[lane].clear();
      lanes_[lane].begin = job.limit / 8 * lane / kLaneCount * 8;
      looks_.begin(lane, lanes_[lane].begin);
    }
  }

  /// Until each lane has met the next, and the last the end. False: one cannot.
  bool run() {
    while (running_ > 0) {
      looks_.run();
      if (!take_ends()) return false;
    }
    return true;
  }

  /// Goes through the blocks that are right.
  bool gather(std::size_t mcus, std::vector<Checkpoint>& starts) const {
    starts.clear();
    starts.reserve(mcus);
    std::array<std::int32_t, 3> predictors{};
    std::uint32_t position = 0;
    std::size_t slot = 0;
    std::size_t first = 0;
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
      for (std::size_t i = first; i < ends_[lane].size(); ++i) {
        const BlockEnd& end = ends_[lane][i];
        if (end.bad || (end.slot != slot && !alike_)) return false;
        if (slot == 0) {
          Checkpoint& start = starts.emplace_back();
          start.bit = position;
          for (std::size_t c = 0; c < 3; ++c) {
            start.predictors[c] = static_cast<std::int16_t>(predictors[c]);
          }
        }
        std::int32_t& dc = predictors[job_.row[slot].component];
        dc += end.dc;
        if (dc != static_cast<std::int16_t>(dc)) return false;
        position = end.position;
        slot = slot + 1 < job_.slots ? slot + 1 : 0;
        // All bytes are taken, and none behind them: fewer than 8 bits are left.
        if (slot == 0 && starts.size() == mcus) {
          return position <= job_.limit && job_.limit - position < 8;
        }
      }
      if (!lanes_[lane].has_met) return false;
      first = lanes_[lane].met + 1;
    }
    return false;
  }

 private:
  struct Lane {
    std::uint64_t begin = 0;
    std::size_t slot = 0;
    bool running = true;
    bool has_met = false;
    std::size_t met = 0;  ///< of the next lane's ends, the one that is this lane's last, too
  };

  /// Where all blocks are read by the same tables, a lane cannot know whose block it is at; nor
  /// need it: blocks are counted from the first.
  static bool alike(const LaneJob& job) {
    for (std::size_t i = 1; i < job.slots; ++i) {
      for (const bool ac : {false, true}) {
        if (!job.tables[i]->code(ac).is(job.tables[0]->code(ac).spec())) return false;
      }
    }
    return true;
  }

  bool take_ends() {
    std::array<std::uint8_t, kMostEnded> ended;
    const std::size_t count = list_ended(looks_.tile(), ended);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t lane = ended[i] % kDoneBits;
      if (lanes_[lane].running && !take_end(lane, ended[i] / kDoneBits)) return false;
    }
    return true;
  }

  bool take_end(std::size_t lane, std::size_t at) {
    const Tile& tile = looks_.tile();
    Lane& l = lanes_[lane];
    if (left_-- == 0) return false;
    const std::uint64_t sums = tile.entries[lane / kLanesEach][at][lane % kLanesEach];
    const std::uint64_t p = sums & kP;
    const std::uint64_t position = tile.position[at / kRound][lane] + (sums >> kLost & 63U);
    const bool no_code = (tile.bad[at] >> lane & 1U) != 0;
    const auto dc = static_cast<std::int16_t>(
        static_cast<std::uint16_t>(tile.notes[at][lane] >> (F::kFirst + 1 - (16 - F::kValueBits))));
    ends_[lane].push_back({static_cast<std::uint32_t>(position),
                           static_cast<std::int16_t>(dc >> (16 - F::kValueBits)),
                           static_cast<std::uint8_t>(l.slot),
                           no_code || (p > 64 && p < kEndAdvance)});
    l.slot = l.slot + 1 < job_.slots ? l.slot + 1 : 0;
    if (position >= job_.limit) {
      l.running = false;
    } else if (lane + 1 < kLaneCount && position > lanes_[lane + 1].begin) {
      return meet(lane, ends_[lane].back());
    }
    running_ -= l.running ? 0 : 1;
    return true;
  }

  /// Whether the next lane has been in this state is seen block by block. False: it never will, or
  /// it takes so long that decoding in order is no slower.
  bool meet(std::size_t lane, const BlockEnd& end) {
    Lane& l = lanes_[lane];
    if (lane + 3 < kLaneCount && end.position > lanes_[lane + 3].begin) return false;
    const auto& next = ends_[lane + 1];
    while (l.met < next.size() && next[l.met].position < end.position) ++l.met;
    if (l.met == next.size()) return lanes_[lane + 1].running;
    const BlockEnd& there = next[l.met];
    const bool same_slot = there.slot == end.slot || alike_;
    if (there.position == end.position && same_slot && !there.bad && !end.bad) {
      l.has_met = true;
      l.running = false;
      --running_;
    }
    return true;
  }

  const LaneJob& job_;
  Looks<LookFor::ends> looks_;
  const bool alike_;
  std::vector<std::vector<BlockEnd>>& ends_;
  std::array<Lane, kLaneCount> lanes_{};
  std::size_t running_ = kLaneCount;
  std::size_t left_;  ///< blocks that may be taken: all of them twice, or lanes are lost
};

bool Scout(const LaneJob& job, std::size_t mcus, std::vector<std::vector<BlockEnd>>& memory,
           std::vector<Checkpoint>& starts) {
  if (job.limit > std::numeric_limits<std::uint32_t>::max() - 64) return false;
  Scouts scouts(job, mcus, memory);
  return scouts.run() && scouts.gather(mcus, starts);
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
