// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "headrace/base/random.h"

namespace headrace::converting {
namespace {

struct Lot {
  std::uint32_t label;   ///< the float's bits: also what is not a number is a label
  std::uint64_t number;  ///< those with the smallest go into validation
  std::uint64_t id;
};

/// Exactly round(share × n) samples, of all or of each label.
Result<MappedArray<std::uint8_t>> draw(const Dataset& set, const ConvertOptions& options,
                                       const std::optional<Labels>& labels) {
  HEADRACE_TRY(auto lots, MappedArray<Lot>::make());
  HEADRACE_TRY(auto side, MappedArray<std::uint8_t>::make());
  for (std::uint64_t id = 0; id < set.size(); ++id) {
    HEADRACE_TRY(side.append(std::uint8_t{0}));
    const auto label = options.stratified ? std::bit_cast<std::uint32_t>((*labels)[id]) : 0;
    HEADRACE_TRY(lots.append(Lot{.label = label, .number = mix_key(options.seed, id), .id = id}));
  }
  const std::span<Lot> all = lots.span();
  std::ranges::sort(all, [](const Lot& a, const Lot& b) {
    return std::tuple(a.label, a.number, a.id) < std::tuple(b.label, b.number, b.id);
  });
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    while (end < all.size() && all[begin].label == all[end].label) ++end;
    const auto drawn = static_cast<std::size_t>(
        std::floor(options.validation * static_cast<double>(end - begin) + 0.5));
    for (const Lot& lot : all.subspan(begin, drawn)) side.span()[lot.id] = 1;
    begin = end;
  }
  return side;
}

/// How many bytes a sample takes in the container, at most, if it passes through untouched.
std::uint64_t written_bytes(const Dataset& set, const WriterKind& kind, std::uint64_t id) {
  const std::uint64_t name = kind.names == 0 ? 0 : kind.names * set.name(SampleId{id}).size();
  return set.frame_bytes(SampleId{id}) + kind.overhead + name;
}

/// Decides, sample by sample of one set, where its next shard begins.
class Cuts {
 public:
  Cuts(const Dataset& set, const ConvertOptions& options, const WriterKind& kind,
       std::uint64_t samples)
      : set_(set), options_(options), kind_(kind), samples_(samples) {
    std::uint64_t shards = options.shards;
    if (kind.samples_a_shard != 0)
      shards = (samples + kind.samples_a_shard - 1) / kind.samples_a_shard;
    shards_ = std::clamp<std::uint64_t>(shards, 1, std::max<std::uint64_t>(samples, 1));
    next_ = samples / shards_ + (samples % shards_ != 0 ? 1 : 0);
  }

  bool before(std::uint64_t id) {
    const bool by_size = options_.shard_bytes != 0 && kind_.samples_a_shard == 0;
    const bool cut = by_size ? by_bytes(id) : seen_ == next_;
    if (!by_size && cut) {
      ++shard_;
      next_ += samples_ / shards_ + (shard_ < samples_ % shards_ ? 1 : 0);
    }
    ++seen_;
    return cut;
  }

 private:
  bool by_bytes(std::uint64_t id) {
    const std::uint64_t frame = written_bytes(set_, kind_, id);
    const bool cut = bytes_ != 0 && bytes_ + frame > options_.shard_bytes;
    bytes_ = cut ? frame : bytes_ + frame;
    return cut;
  }

  const Dataset& set_;
  const ConvertOptions& options_;
  const WriterKind& kind_;
  const std::uint64_t samples_;
  std::uint64_t shards_ = 1;
  std::uint64_t shard_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t next_ = 0;  ///< so many samples stand before the next cut
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<Plan> Plan::make(const Dataset& set, const ConvertOptions& options, const WriterKind& kind,
                        const std::optional<Labels>& labels) {
  Plan plan;
  if (options.validation > 0) {
    plan.sets_ = {{.key = "train/train"}, {.key = "validation/validation"}};
    HEADRACE_TRY(plan.side_, draw(set, options, labels));
  } else {
    plan.sets_ = {{.key = options.key}};
  }
  for (std::uint64_t id = 0; id < set.size(); ++id) ++plan.sets_[plan.set_of(id)].samples;
  for (std::size_t which = 0; which < plan.sets_.size(); ++which) {
    WrittenSet& written = plan.sets_[which];
    if (written.samples == 0 && set.size() > 0) {
      return Error(Code::invalid,
                   fmt::format("\"{}\" would have none of the {} samples", written.key, set.size()),
                   "choose a --split that leaves samples on both sides");
    }
    Cuts cuts(set, options, kind, written.samples);
    PlannedShard shard{.set = which};
    for (std::uint64_t id = 0; id < set.size(); ++id) {
      if (plan.set_of(id) != which || !cuts.before(id)) continue;
      shard.end = id;
      plan.shards_.push_back(shard);
      shard = {.set = which, .number = shard.number + 1, .begin = id};
    }
    shard.end = set.size();
    plan.shards_.push_back(shard);
    written.shards = shard.number + 1;
  }
  return plan;
}

std::pair<std::size_t, std::size_t> Plan::part(std::uint64_t part, std::uint64_t parts) const {
  const std::uint64_t shards = shards_.size();
  const auto begin = [&](std::uint64_t before) {
    return shards / parts * before + std::min(before, shards % parts);
  };
  return {begin(part - 1), begin(part)};
}

}  // namespace headrace::converting
