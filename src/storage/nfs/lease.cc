// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/nfs/lease.h"

#include <algorithm>

#include "headrace/base/clock.h"

namespace headrace::nfs {

bool Idle::pause(int attempt, const std::stop_token& stop) {
  constexpr Nanos kFirst = std::chrono::milliseconds(100);
  constexpr Nanos kMost = std::chrono::seconds(8);
  return real_clock().sleep_for(std::min(kFirst * (1 << attempt), kMost), stop);
}

}  // namespace headrace::nfs
