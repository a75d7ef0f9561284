// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/warm.h"

#include <thread>
#include <utility>

#include "headrace/job/compose.h"

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

}  // namespace

Result<WarmReport> warm(JobOptions options, const std::function<void(const Loader::Progress&)>& on,
                        const std::stop_token& stop) {
  options.mode = Mode::keep;
  options.loader = whole_set(options.loader);
  Context context;
  const Nanos begin = context.clock->now();
  HEADRACE_TRY(auto parts, compose(options, context, stop));
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
  }
  parts.cache->flush();
  const KeepStats stats = parts.cache->stats();
  return WarmReport{.samples = parts.dataset->size(),
                    .fetched_bytes = context.metrics->get(Metric::bytes_origin),
                    .present_bytes = context.metrics->get(Metric::bytes_cache),
                    .not_kept_bytes = stats.not_kept_bytes,
                    .limit_bytes = stats.limit_bytes,
                    .seconds = std::chrono::duration<double>(context.clock->now() - begin).count(),
                    .notices = context.notices->all()};
}

}  // namespace headrace
