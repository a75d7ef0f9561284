// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "headrace/advisor/stats.h"

namespace headrace::advisor {
namespace {

/// The median over the runs of what `of` gives; nothing if it gives nothing for one of them.
template <class Of>
std::optional<double> median_of(const std::vector<Measurement>& runs, Of of) {
  std::vector<double> values;
  for (const auto& run : runs) {
    const std::optional<double> value = of(run);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return median(values);
}

double rate(const Measurement& run) {
  double samples = 0;
  double seconds = 0;
  for (const auto& epoch : run.epochs) {
    samples += static_cast<double>(epoch.delivered);
    seconds += epoch.seconds;
  }
  return seconds > 0 ? samples / seconds : 0;
}

std::optional<double> later(const Measurement& run) {
  if (run.epochs.size() < 2) return std::nullopt;
  double seconds = 0;
  for (std::size_t i = 1; i < run.epochs.size(); ++i) seconds += run.epochs[i].seconds;
  return seconds / static_cast<double>(run.epochs.size() - 1);
}

std::optional<double> busy(const Measurement& run) {
  double sum = 0;
  for (const auto& epoch : run.epochs) {
    if (!epoch.accelerator_busy) return std::nullopt;
    sum += *epoch.accelerator_busy;
  }
  return sum / static_cast<double>(run.epochs.size());
}

template <class Field>
std::uint64_t median_sum(const std::vector<Measurement>& runs, Field field) {
  const auto sums = median_of(runs, [&](const Measurement& run) -> std::optional<double> {
    double sum = 0;
    for (const auto& epoch : run.epochs) sum += static_cast<double>(epoch.*field);
    return sum;
  });
  return static_cast<std::uint64_t>(std::llround(*sums));
}

/// Empty if every run delivered the same samples in the same order.
std::string disagreement(const std::vector<Measurement>& runs) {
  const auto& first = runs.front().epochs;
  for (const auto& run : runs) {
    if (run.epochs.size() != first.size()) return "its repeats ran different numbers of epochs";
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (run.epochs[i].order_digest != first[i].order_digest ||
          run.epochs[i].set_digest != first[i].set_digest) {
        return fmt::format("its repeats differ in epoch {}: order digest {} and {}", i,
                           first[i].order_digest, run.epochs[i].order_digest);
      }
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::not_run:
      break;
  }
  return "not_run";
}

std::string_view to_string(Cold cold) {
  switch (cold) {
    case Cold::verified:
      return "verified";
    case Cold::warm:
      return "warm";
    case Cold::unverified:
      break;
  }
  return "unverified";
}

Cold worse(Cold a, Cold b) {
  if (a == Cold::warm || b == Cold::warm) return Cold::warm;
  return a == Cold::verified ? b : a;
}

std::string Row::label(bool with_format, bool with_medium) const {
  return mode + (partial_reads ? " in parts" : "") + (with_format ? " on " + format : "") +
         (with_medium && medium != "none" ? " over " + medium : "") +
         (with_medium && keep_medium != "none" ? ", its cache on " + keep_medium : "");
}

std::optional<double> Row::scaled_total_seconds() const {
  if (!figures || scale == 1) return std::nullopt;
  return figures->total_seconds * scale;
}

void conclude(Row& row, const std::vector<Measurement>& runs, Cold cold,
              const std::vector<std::string>& failures) {
  assert(!runs.empty() || !failures.empty());
  std::string why = failures.empty() ? disagreement(runs) : failures.front();
  if (!why.empty()) {
    row.status = Status::failed;
    row.why = std::move(why);
    row.figures.reset();
    return;
  }
  Figures figures;
  figures.launch_seconds =
      *median_of(runs, [](const auto& run) { return std::optional(run.launch_seconds); });
  figures.samples_per_second =
      *median_of(runs, [](const auto& run) { return std::optional(rate(run)); });
  figures.first_epoch_seconds =
      *median_of(runs, [](const auto& run) { return std::optional(run.epochs.front().seconds); });
  figures.later_epoch_seconds = median_of(runs, later);
  for (const auto& run : runs) figures.totals.push_back(run.total_seconds);
  figures.total_seconds = median(figures.totals);
  figures.spread = spread(figures.totals);
  figures.accelerator_busy = median_of(runs, busy);
  figures.bytes_origin = median_sum(runs, &EpochMeasurement::bytes_origin);
  figures.bytes_cache = median_sum(runs, &EpochMeasurement::bytes_cache);
  figures.requests = median_sum(runs, &EpochMeasurement::requests);
  figures.cold = cold;
  const auto& epochs = runs.front().epochs;
  for (const auto& epoch : epochs) figures.order_digests.push_back(epoch.order_digest);
  figures.set_digest = epochs.front().set_digest;
  figures.samples = epochs.front().delivered;
  figures.epochs = epochs.size();
  row.status = Status::ok;
  row.why.clear();
  row.figures = std::move(figures);
}

}  // namespace headrace::advisor
