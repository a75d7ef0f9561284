// SPDX-License-Identifier: Apache-2.0
/// \file What one job hands to everything it builds; none of it changes what the data is.
///
/// Copyable; thread-safe, as its parts are. Credentials, endpoints and pools belong to the
/// stores that need them.
#pragma once

#include <memory>

#include "headrace/base/clock.h"
#include "headrace/base/metrics.h"
#include "headrace/base/notices.h"

namespace headrace {

struct Context {
  Clock* clock = &real_clock();  ///< not owned; outlives the job
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::shared_ptr<Notices> notices = std::make_shared<Notices>();
};

}  // namespace headrace
