// SPDX-License-Identifier: Apache-2.0
/// \file When a request that is slow to begin is worth sending a second time.
///
/// Not thread-safe; pure. Beyond the observed 99th percentile of the time to the first byte (of
/// parts of large reads: until they are whole), and for at most 1 % extra requests, so that hedges
/// cost little and never load a server that is slow as a whole. Source: Dean and Barroso, "The Tail
/// at Scale", 2013.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "headrace/base/clock.h"

namespace headrace::s3 {

struct HedgeOptions {
  std::uint32_t enough = 200;  ///< observations before the first hedge
  double most_saved = 16;      ///< hedges at once after a long calm
};

class HedgePolicy {
 public:
  explicit HedgePolicy(const HedgeOptions& options = {}) : options_(options) {}

  /// A request took this time.
  void observed(Nanos time);

  /// How long to wait before a hedge. Nothing: not enough is known yet.
  std::optional<Nanos> patience() const { return patience_; }

  /// Whether one more hedge stays within the allowance; it counts as sent.
  bool take();

 private:
  // 8 steps an octave from 2^16 ns (65 µs) on: 160 of them reach 68 s.
  static constexpr std::size_t kSteps = 160;
  static std::size_t step_of(Nanos time);
  static Nanos end_of(std::size_t step);
  void refresh();

  HedgeOptions options_;
  std::array<std::uint32_t, kSteps> counts_{};
  std::uint32_t total_ = 0;
  std::uint32_t fresh_ = 0;  // since patience_ was computed
  std::optional<Nanos> patience_;
  double allowance_ = 0;
};

}  // namespace headrace::s3
