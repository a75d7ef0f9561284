// SPDX-License-Identifier: Apache-2.0
/// \file Whether to send a request again, and when: exponential backoff with full jitter.
///
/// Pure functions. Full jitter (a uniform draw below the bound, not around it) spreads the nodes of
/// a job that were throttled together; M. Brooker, "Exponential Backoff And Jitter", 2015.
#pragma once

#include <optional>

#include "headrace/base/clock.h"
#include "headrace/base/random.h"

namespace headrace::s3 {

struct RetryOptions {
  int attempts = 10;         ///< in all, the first included
  int connect_attempts = 4;  ///< where nobody answers at all: soon said, for a wrong address
  Nanos base = std::chrono::milliseconds(50);
  Nanos cap = std::chrono::seconds(5);
  Nanos budget = std::chrono::minutes(2);  ///< no attempt begins later than this
  /// Of a server that has answered before and is out of reach, or refuses all: so long it is asked,
  /// however often. A job of hours outlives a restart of what it reads from. AWS_MAX_ATTEMPTS ends
  /// it sooner.
  Nanos outage = std::chrono::minutes(2);
};

enum class Again { no, yes, if_connected_soon, until_it_is_back };

/// `attempt` counts those made. `at_least` is the server's Retry-After, kept up to the cap × 6.
/// Nothing: give up.
std::optional<Nanos> next_delay(const RetryOptions& options, Again again, int attempt,
                                Nanos elapsed, Nanos at_least, Random& random);

}  // namespace headrace::s3
