// SPDX-License-Identifier: Apache-2.0
/// \file The learning rate at each update: steps as the built-in image classifier has them, or a
/// half cosine; with an optional linear warm-up.
///
/// Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace {

enum class Curve { step, cosine };

std::string_view to_string(Curve curve);
Result<Curve> parse_curve(std::string_view text);

struct Schedule {
  Curve curve = Curve::step;
  double base = 0.1;
  double factor = 0.1;               ///< step: multiplies the rate at each of `steps`
  std::vector<std::uint64_t> steps;  ///< step: epochs, counted from 0, from which it holds
  double warmup = 0;                 ///< epochs over which the rate rises from 0 to its curve
  std::uint64_t epochs = 1;          ///< cosine: where the rate reaches 0
  std::uint64_t updates_per_epoch = 1;

  /// Of the update-th update, counted from 0 over all epochs:
  ///   step    base · factor^(number of steps passed)
  ///   cosine  base · (1 + cos(π · t)) / 2, t = update / (epochs · updates_per_epoch)
  /// times min(1, (update + 1) / (warmup · updates_per_epoch)).
  double rate(std::uint64_t update) const;
};

/// "10,20" as epochs; `invalid` unless they are whole numbers that rise.
Result<std::vector<std::uint64_t>> parse_steps(std::string_view text);

}  // namespace headrace
