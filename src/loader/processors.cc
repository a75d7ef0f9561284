// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace headrace {
namespace {

/// cpu.max of the process's own control group as the process sees it: "max 100000" or
/// "150000 100000". 0: no limit is known.
unsigned group_limit() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<unsigned>(std::max(1.0, std::floor(quota / period)));
}

}  // namespace

unsigned processors() {
  unsigned count = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    count = std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
  }
  const unsigned limit = group_limit();
  return limit == 0 ? count : std::min(count, limit);
}

}  // namespace headrace
