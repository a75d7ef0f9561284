// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/thread_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace headrace {

std::optional<ThreadCounter> ThreadCounter::open(std::uint32_t type, std::uint64_t event) {
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = type;
  what.config = event;
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  constexpr int kThisThread = 0, kAnyProcessor = -1, kNoGroup = -1;
  const auto fd = static_cast<int>(::syscall(SYS_perf_event_open, &what, kThisThread, kAnyProcessor,
                                             kNoGroup, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return std::nullopt;
  return ThreadCounter(UniqueFd(fd));
}

std::optional<ThreadCounter> ThreadCounter::instructions() {
  return open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

std::optional<ThreadCounter> ThreadCounter::task_clock() {
  return open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

std::uint64_t ThreadCounter::read() const {
  std::uint64_t count = 0;
  return ::read(fd_.get(), &count, sizeof count) == sizeof count ? count : 0;
}

}  // namespace headrace
