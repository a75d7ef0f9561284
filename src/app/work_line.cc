// SPDX-License-Identifier: Apache-2.0
#include "work_line.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "headrace/base/clock.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

void show(const std::string& doing, const WorkProgress& progress, std::uint64_t total,
          const std::stop_token& stop) {
  constexpr Nanos kInterval = std::chrono::milliseconds(200);
  ProgressLine line;
  if (!line.enabled()) return;
  Clock& clock = real_clock();
  const Nanos begin = clock.now();
  while (clock.sleep_for(kInterval, stop)) {
    const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
    const auto samples = static_cast<double>(progress.samples.load());
    const auto bytes = static_cast<double>(progress.bytes.load());
    const double left =
        samples > 0 ? (static_cast<double>(total) - samples) / samples * seconds : 0;
    line.show(fmt::format("{} {:.0f} of {} samples, {:.0f}/s, {}/s, {} left", doing, samples, total,
                          samples / seconds, human_bytes(bytes / seconds), human_time(left)));
  }
}

}  // namespace

WorkLine::WorkLine(std::string doing, const WorkProgress& progress, std::uint64_t total_samples)
    : thread_([doing = std::move(doing), &progress, total_samples](const std::stop_token& stop) {
        show(doing, progress, total_samples, stop);
      }) {}

}  // namespace headrace::app
