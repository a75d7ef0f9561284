// SPDX-License-Identifier: Apache-2.0
/// \file Which samples an epoch has, and how often, where that is not each once: several sets in
/// proportions, classes or samples with weights, epochs of another length than the set.
///
/// The weights of all samples lie side by side on a line, in canonical order. An epoch of n samples
/// takes n points of the line at equal distances, all moved by the epoch's shift (systematic
/// sampling). So in every epoch each sample, and each stretch of the canonical order, such as a set
/// or a class's folder, comes as often as its weight asks, to within one; and its expectation over
/// the seeds is exact. The shifts follow van der Corput's sequence: the points of the first 2^k
/// epochs together are at equal distances again.
///
/// Thread-safe once made. 24 bytes for each run of samples with equal weights, in memory that the
/// kernel can take back. Example: loader/selection_of.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"

namespace headrace {

/// How much of each of several sets an epoch has. Empty and 0: each sample once.
struct Proportions {
  std::vector<double> repeat;  ///< times each sample of a set comes, a number for each set; 0.5:
                               ///< half of them in one epoch, the others in the next
  std::vector<double> shares;  ///< of the epoch, a number for each set; their sum may be any
  std::uint64_t epoch_samples = 0;  ///< length of an epoch; 0: what `repeat` asks, else the set's

  bool given() const { return !repeat.empty() || !shares.empty() || epoch_samples != 0; }
  bool operator==(const Proportions&) const = default;
};

/// What of them can be told without the sets themselves.
///  * `invalid`   a number too few or too many, or out of range; both ways to say how much; nothing
Result<void> check_proportions(const Proportions& proportions, std::size_t sets);

class Selection {
 public:
  /// Weights are 0, or from 1e-6 to 1e6: smaller and larger ones are refused, not rounded.
  static constexpr double kLeast = 1e-6;
  static constexpr double kMost = 1e6;

  /// What a sample weighs against the others of its set; `invalid` ends the making.
  using WeightOf = std::function<Result<double>(std::uint64_t sample)>;

  /// `sets`: the samples of each, which follow each other. `weight_of`: empty if all weigh the
  /// same.
  ///  * `invalid`   a number too few or too many, out of range, or nothing that weighs anything
  static Result<Selection> make(const Proportions& proportions, std::span<const std::uint64_t> sets,
                                const WeightOf& weight_of);

  /// Samples in an epoch.
  std::uint64_t size() const { return size_; }
  /// How far the points of an epoch are moved, in 2^-24 of their distance.
  std::uint64_t shift(std::uint64_t seed, std::uint64_t epoch) const;
  /// The sample at one of the epoch's points, which are in canonical order. REQUIRES: slot < size()
  std::uint64_t at(std::uint64_t shift, std::uint64_t slot) const;
  /// Tells two selections apart, for states: 32 hexadecimal digits.
  std::string fingerprint() const;

 private:
  struct Run {
    std::uint64_t end = 0;  ///< of its stretch of the line, which begins where the last run's ends
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  class Maker;

  Selection(std::uint64_t size, MappedArray<Run> runs) : size_(size), runs_(std::move(runs)) {}

  std::uint64_t size_;
  MappedArray<Run> runs_;
};

}  // namespace headrace
