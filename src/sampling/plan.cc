// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace headrace {
namespace {

/// `count` positions from `first` on, shared out evenly in stretches: ranks differ by one at most.
Stretch share(std::uint64_t first, std::uint64_t count, const PlanOptions& options) {
  const std::uint64_t whole = count / options.world;
  const std::uint64_t longer = count % options.world;  // so many ranks get one more
  return {.first = first + options.rank * whole + std::min(options.rank, longer),
          .count = whole + (options.rank < longer ? 1 : 0)};
}

}  // namespace

std::string_view to_string(Tail tail) {
  switch (tail) {
    case Tail::keep:
      return "keep";
    case Tail::drop:
      return "drop";
    case Tail::pad:
      return "pad";
    case Tail::wrap:
      return "wrap";
  }
  return "keep";
}

Result<Tail> parse_tail(std::string_view text) {
  for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad, Tail::wrap}) {
    if (text == to_string(tail)) return tail;
  }
  return Error(Code::invalid, fmt::format("unknown tail '{}'", text),
               "known: keep, drop, pad, wrap");
}

Result<Plan> Plan::make(const PlanOptions& options) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 32U;  // products stay within 64 bits
  if (options.batch == 0 || options.batch >= limit) {
    return Error(Code::invalid, fmt::format("batch size {} is not in 1 … 2^32", options.batch));
  }
  if (options.world == 0 || options.world >= limit / 2) {
    return Error(Code::invalid, fmt::format("world size {} is not in 1 … 2^31", options.world));
  }
  if (options.rank >= options.world) {
    return Error(Code::invalid,
                 fmt::format("rank {} is outside a world of {}", options.rank, options.world),
                 "ranks count from 0");
  }
  return Plan(options);
}

std::uint64_t Plan::steps() const {
  const std::uint64_t whole = options_.samples / global_batch();
  const bool rest = options_.samples % global_batch() != 0;
  return whole + (rest && options_.tail != Tail::drop ? 1 : 0);
}

Stretch Plan::stretch(std::uint64_t step) const {
  assert(step < steps());
  const std::uint64_t begin = step * global_batch();
  const std::uint64_t left = options_.samples - begin;
  if (left < global_batch() && options_.tail == Tail::keep) return share(begin, left, options_);
  Stretch stretch{.first = begin + options_.rank * options_.batch, .count = options_.batch};
  const std::uint64_t end = stretch.first + stretch.count;
  if (end > options_.samples) {
    stretch.padded = std::min(stretch.count, end - options_.samples);
  }
  return stretch;
}

std::uint64_t Plan::position(const Stretch& stretch, std::uint64_t slot) const {
  assert(slot < stretch.count);
  return (stretch.first + slot) % options_.samples;
}

std::uint64_t Plan::dropped() const {
  if (options_.tail != Tail::drop) return 0;
  return share(0, options_.samples % global_batch(), options_).count;
}

std::uint64_t Plan::share_of_epoch() const {
  const std::uint64_t whole = options_.samples / global_batch() * options_.batch;
  const std::uint64_t rest = options_.samples % global_batch();
  const bool filled = options_.tail == Tail::pad || options_.tail == Tail::wrap;
  if (!filled) return whole + share(0, rest, options_).count;
  const std::uint64_t before = std::min(rest, options_.rank * options_.batch);
  return whole + std::min(options_.batch, rest - before);
}

std::uint64_t Plan::position_after(std::uint64_t steps_done) const {
  return std::min(steps_done * global_batch(), options_.samples);
}

Result<std::uint64_t> Plan::step_at(std::uint64_t position) const {
  if (position >= position_after(steps())) {
    if (position <= options_.samples) return steps();
    return Error(Code::invalid, fmt::format("position {} is behind the end of an epoch of {}",
                                            position, options_.samples));
  }
  if (position % global_batch() != 0) {
    return Error(Code::invalid,
                 fmt::format("position {} is inside a step: steps have {} samples over all ranks",
                             position, global_batch()),
                 "resume with the same batch size times ranks as before");
  }
  return position / global_batch();
}

}  // namespace headrace
