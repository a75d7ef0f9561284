// SPDX-License-Identifier: Apache-2.0
/// \file What this thread has executed, by the kernel's performance counters.
///
/// Not thread-safe: it counts the thread that made it. Many virtual machines count no instructions,
/// and /proc/sys/kernel/perf_event_paranoid above 2 forbids all counters.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "headrace/base/unique_fd.h"

namespace headrace {

class ThreadCounter {
 public:
  /// User space only. Nothing where there is no counter.
  static std::optional<ThreadCounter> instructions();
  /// The thread's processor time in ns, by the same way, which works everywhere it is allowed.
  static std::optional<ThreadCounter> task_clock();

  /// Since it was made.
  std::uint64_t read() const;

 private:
  explicit ThreadCounter(UniqueFd fd) : fd_(std::move(fd)) {}
  static std::optional<ThreadCounter> open(std::uint32_t type, std::uint64_t event);

  UniqueFd fd_;
};

}  // namespace headrace
