// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/warm.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/base/parse_number.h"
#include "headrace/job/compose.h"
#include "headrace/loader/selection_of.h"
#include "headrace/records/joined/joined.h"

namespace headrace {
namespace {

constexpr Nanos kProgressEvery = std::chrono::milliseconds(500);

LoaderOptions whole_set(const LoaderOptions& given) {
  return {.batch = 64,
          .shuffle = Shuffle::none,
          .epochs = 1,
          .budget_bytes = given.budget_bytes,
          .max_requests = given.max_requests,
          .limits = given.limits,
          .on_bad = OnBad::skip,  // a damaged picture is kept as it is
          .decode = false,
          .seek_bytes = 0};
}

/// Each sample that can come, once: what has no weight is left out, all others weigh the same. A
/// file of sample weights leaves nothing out.
Result<SelectionOptions> once(const Dataset& set, const SelectionOptions& given) {
  // First of all it must be one that a job can have.
  HEADRACE_TRY(const auto drawn, selection_of(set, given, Shuffle::none));
  SelectionOptions all;
  const auto& times = given.proportions;
  for (const double each : times.shares.empty() ? times.repeat : times.shares)
    all.proportions.repeat.push_back(each > 0 ? 1 : 0);
  std::set<float> never;
  for (const auto& [name, weight] : given.class_weights) {
    if (weight != 0) continue;
    all.class_weights.emplace_back(name, 0);
    const auto named = std::ranges::find(set.classes(), name);
    never.insert(named == set.classes().end() ? *parse_number<float>(name)
                                              : static_cast<float>(named - set.classes().begin()));
  }
  if (!all.given()) return all;
  std::uint64_t begin = 0;
  std::size_t member = 0;
  for (const std::uint64_t size : member_sizes(set)) {
    const std::uint64_t end = begin + size;
    const bool comes = all.proportions.repeat.empty() || all.proportions.repeat[member++] > 0;
    if (comes && never.empty()) all.proportions.epoch_samples += size;
    for (std::uint64_t id = begin; comes && !never.empty() && id < end; ++id)
      if (!never.contains(*set.label(SampleId{id}))) ++all.proportions.epoch_samples;
    begin = end;
  }
  return all;
}

/// Those of each set: they share the folder, and its limit.
std::vector<KeepStore*> caches(const Composition& parts) {
  std::vector<KeepStore*> all;
  if (parts.members.empty()) all.push_back(parts.cache);
  for (const Composition& member : parts.members) all.push_back(member.cache);
  return all;
}

}  // namespace

Result<WarmReport> warm(JobOptions options, const std::function<void(const Loader::Progress&)>& on,
                        const std::stop_token& stop) {
  options.mode = Mode::keep;
  const SelectionOptions selection = std::exchange(options.loader.selection, {});
  options.loader = whole_set(options.loader);
  HEADRACE_TRY(check_options(options));
  Context context;
  const Nanos begin = context.clock->now();
  HEADRACE_TRY(auto parts, compose(options, context, stop));
  HEADRACE_TRY(options.loader.selection, once(*parts.dataset, selection));
  WarmReport report;
  {
    HEADRACE_TRY(const auto loader,
                 Loader::make(context, *parts.feed, *parts.dataset, options.loader));
    std::jthread reporter;
    if (on) {
      reporter = std::jthread([&](const std::stop_token& ended) {
        while (real_clock().sleep_for(kProgressEvery, ended)) on(loader->progress());
      });
    }
    while (true) {
      HEADRACE_TRY(const auto batch, loader->next(stop));
      if (!batch) break;
    }
    report.samples = loader->epoch_report().ledger.asked;
  }
  for (KeepStore* const cache : caches(parts)) {
    cache->flush();
    const KeepStats stats = cache->stats();
    report.not_kept_bytes += stats.not_kept_bytes;
    report.limit_bytes = stats.limit_bytes;
  }
  report.fetched_bytes = context.metrics->get(Metric::bytes_origin);
  report.present_bytes = context.metrics->get(Metric::bytes_cache);
  report.seconds = std::chrono::duration<double>(context.clock->now() - begin).count();
  report.notices = context.notices->all();
  return report;
}

}  // namespace headrace
