// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace headrace {

std::string_view to_string(Curve curve) { return curve == Curve::step ? "step" : "cosine"; }

Result<Curve> parse_curve(std::string_view text) {
  if (text == "step") return Curve::step;
  if (text == "cosine") return Curve::cosine;
  return Error(Code::invalid, fmt::format("unknown schedule '{}'", text), "choose step or cosine");
}

double Schedule::rate(std::uint64_t update) const {
  const auto per_epoch = static_cast<double>(updates_per_epoch);
  const auto at = static_cast<double>(update);
  double rate = base;
  if (curve == Curve::cosine) {
    const double t = std::min(1.0, at / (static_cast<double>(epochs) * per_epoch));
    rate *= (1 + std::cos(std::numbers::pi * t)) / 2;
  } else {
    const std::uint64_t epoch = update / updates_per_epoch;
    for (const std::uint64_t step : steps) {
      if (epoch >= step) rate *= factor;
    }
  }
  const double warmup_updates = warmup * per_epoch;
  return at + 1 < warmup_updates ? rate * (at + 1) / warmup_updates : rate;
}

Result<std::vector<std::uint64_t>> parse_steps(std::string_view text) {
  std::vector<std::uint64_t> steps;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t step = 0;
    const auto [after, problem] = std::from_chars(at, end, step);
    const bool more = after != end && *after == ',' && after + 1 != end;
    if (problem != std::errc{} || (after != end && !more) ||
        (!steps.empty() && step <= steps.back())) {
      return Error(Code::invalid, fmt::format("'{}' is no list of epochs", text),
                   "write rising whole numbers, such as 10,20");
    }
    steps.push_back(step);
    at = more ? after + 1 : after;
  }
  return steps;
}

}  // namespace headrace
