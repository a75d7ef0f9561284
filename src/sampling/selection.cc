// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>
#include <utility>

#include "headrace/base/digest.h"
#include "headrace/base/random.h"

namespace headrace {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kShiftStream = 0x73686674;  // "shft"
constexpr unsigned kShiftBits = 24;
constexpr double kUnits = 1e6;                               // of a weight of 1
constexpr std::uint64_t kLine = std::uint64_t{1} << 61U;     // the longest
constexpr std::uint64_t kSamples = std::uint64_t{1} << 40U;  // of an epoch: products fit in Wide

std::uint64_t reversed(std::uint64_t bits) {
  std::uint64_t turned = 0;
  for (unsigned i = 0; i < kShiftBits; ++i) turned |= (bits >> i & 1U) << (kShiftBits - 1 - i);
  return turned;
}

bool in_range(double weight) {
  return weight == 0 || (weight >= Selection::kLeast && weight <= Selection::kMost);
}

std::uint64_t units(double weight) {
  if (weight == 0) return 0;
  return static_cast<std::uint64_t>(std::max(1LL, std::llround(weight * kUnits)));
}

Result<void> check_numbers(std::string_view what, const std::vector<double>& numbers,
                           std::size_t sets) {
  if (numbers.empty()) return {};
  if (numbers.size() != sets) {
    return Error(Code::invalid,
                 fmt::format("{} has {} numbers for {} sets", what, numbers.size(), sets),
                 "give one for each set, in their order");
  }
  for (const double number : numbers) {
    if (in_range(number)) continue;
    return Error(Code::invalid,
                 fmt::format("{} {} is neither 0 nor from 0.000001 to 1000000", what, number));
  }
  return {};
}

Error nothing_weighs() {
  return {Code::invalid, "no sample has a weight: an epoch would be empty"};
}

}  // namespace

Result<void> check_proportions(const Proportions& proportions, std::size_t sets) {
  HEADRACE_TRY(check_numbers("repeat", proportions.repeat, sets));
  HEADRACE_TRY(check_numbers("shares", proportions.shares, sets));
  if (!proportions.repeat.empty() && !proportions.shares.empty()) {
    return Error(Code::invalid, "repeat and shares both say how much of each set is drawn",
                 "give one of them");
  }
  const auto& shares = proportions.shares;
  if (!shares.empty() && std::ranges::all_of(shares, [](double share) { return share == 0; }))
    return nothing_weighs();
  return {};
}

/// Lays the weights on the line, set by set.
class Selection::Maker {
 public:
  Maker(const Proportions& proportions, std::span<const std::uint64_t> sets,
        const WeightOf& weight_of, MappedArray<Run> runs)
      : proportions_(proportions), sets_(sets), weight_of_(weight_of), runs_(std::move(runs)) {}

  Result<Selection> make() && {
    HEADRACE_TRY(const std::uint64_t size, samples_of_epoch());
    std::uint64_t first = 0;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      const std::size_t from = runs_.size();
      HEADRACE_TRY(const std::uint64_t own, lay_out(set, first));
      HEADRACE_TRY(place(set, from, own));
      first += sets_[set];
    }
    if (size != 0 && end_ == 0) return nothing_weighs();
    return Selection(size, std::move(runs_));
  }

 private:
  Result<std::uint64_t> samples_of_epoch() const {
    HEADRACE_TRY(check_proportions(proportions_, sets_.size()));
    auto size = static_cast<double>(proportions_.epoch_samples);
    for (std::size_t set = 0; proportions_.epoch_samples == 0 && set < sets_.size(); ++set)
      size += static_cast<double>(sets_[set]) * repeat_of(set);
    if (size >= static_cast<double>(kSamples))
      return Error(Code::invalid, fmt::format("an epoch of {} samples is too long", size));
    return static_cast<std::uint64_t>(std::llround(size));
  }

  double repeat_of(std::size_t set) const {
    return proportions_.repeat.empty() ? 1.0 : proportions_.repeat[set];
  }

  /// Appends the runs of a set, their ends counted from its begin. The set's length.
  Result<std::uint64_t> lay_out(std::size_t set, std::uint64_t first) {
    std::uint64_t own = 0;
    std::uint64_t last_units = 0;
    const std::uint64_t step = weight_of_ ? 1 : sets_[set];  // samples that surely weigh the same
    for (std::uint64_t k = 0; k < sets_[set]; k += step) {
      HEADRACE_TRY(const double weight, weight_at(first + k));
      const std::uint64_t each = units(weight * repeat_of(set));
      if (each != 0 && step > (kLine - own) / each) return too_heavy();
      own += each * step;
      if (each != 0 && each == last_units) {
        runs_.span().back().end = own;
        runs_.span().back().count += step;
      } else if (each != 0) {
        HEADRACE_TRY(runs_.append(Run{own, first + k, step}));
      }
      last_units = each;
    }
    return own;
  }

  Result<double> weight_at(std::uint64_t sample) const {
    if (!weight_of_) return 1.0;
    HEADRACE_TRY(const double weight, weight_of_(sample));
    if (in_range(weight)) return weight;
    return Error(Code::invalid,
                 fmt::format("the weight {} of sample {} is neither 0 nor from 0.000001 to 1000000",
                             weight, sample));
  }

  /// Puts a set's runs, from run `from` on, behind the sets before, as long as they are or as the
  /// set's share says.
  Result<void> place(std::size_t set, std::size_t from, std::uint64_t own) {
    std::uint64_t length = own;
    if (!proportions_.shares.empty()) {
      std::uint64_t all = 0;
      for (const double share : proportions_.shares) all += units(share);
      length = all == 0 ? 0 : units(proportions_.shares[set]) * (kLine / all);
      if (length != 0 && own == 0) {
        return Error(Code::invalid,
                     fmt::format("set {} has a share of the epoch, and nothing to draw", set + 1));
      }
    }
    if (length > kLine - end_) return too_heavy();
    for (Run& run : runs_.span().subspan(from))
      run.end = end_ + static_cast<std::uint64_t>(Wide{run.end} * length / own);
    end_ += length;
    return {};
  }

  static Error too_heavy() {
    return {Code::invalid, "the weights add up to too much", "make all of them smaller"};
  }

  const Proportions& proportions_;
  const std::span<const std::uint64_t> sets_;
  const WeightOf& weight_of_;
  MappedArray<Run> runs_;
  std::uint64_t end_ = 0;  ///< of the line so far
};

Result<Selection> Selection::make(const Proportions& proportions,
                                  std::span<const std::uint64_t> sets, const WeightOf& weight_of) {
  HEADRACE_TRY(auto runs, MappedArray<Run>::make());
  return Maker(proportions, sets, weight_of, std::move(runs)).make();
}

std::uint64_t Selection::shift(std::uint64_t seed, std::uint64_t epoch) const {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kShiftBits) - 1;
  return (reversed(epoch & kMask) + mix_key(seed, kShiftStream, size_)) & kMask;
}

std::uint64_t Selection::at(std::uint64_t shift, std::uint64_t slot) const {
  assert(slot < size_);
  const auto runs = runs_.span();
  const Wide along = (Wide{slot} << kShiftBits) | shift;
  const auto point =
      static_cast<std::uint64_t>(along * runs.back().end / (Wide{size_} << kShiftBits));
  const auto run = std::ranges::upper_bound(runs, point, {}, &Run::end);
  const std::uint64_t begin = run == runs.begin() ? 0 : std::prev(run)->end;
  return run->first +
         static_cast<std::uint64_t>(Wide{point - begin} * run->count / (run->end - begin));
}

std::string Selection::fingerprint() const {
  const Hash128 of_runs = hash_bytes(std::as_bytes(runs_.span()));
  return hash_bytes(as_byte_span(fmt::format("{} {}", size_, of_runs.to_hex()))).to_hex();
}

}  // namespace headrace
