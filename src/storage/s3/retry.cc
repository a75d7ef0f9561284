// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/retry.h"

#include <algorithm>
#include <cmath>

namespace headrace::s3 {

std::optional<Nanos> next_delay(const RetryOptions& options, Again again, int attempt,
                                Nanos elapsed, Nanos at_least, Random& random) {
  if (again == Again::no) return std::nullopt;
  const bool patient = again == Again::until_it_is_back;
  const int most = again == Again::if_connected_soon ? options.connect_attempts : options.attempts;
  constexpr int kDoublings = 40;
  const int doublings = std::min(attempt - 1, kDoublings);
  const double bound = std::min(std::ldexp(static_cast<double>(options.base.count()), doublings),
                                static_cast<double>(options.cap.count()));
  Nanos delay(static_cast<std::int64_t>(bound * random.uniform()));
  // What the server asks for is added to, so that the nodes it turned away do not return as one.
  delay += std::min(at_least, options.cap * 6);
  const bool by_attempts = attempt < most && elapsed + delay <= options.budget;
  const bool by_time = patient && elapsed + delay <= options.outage;
  if (!by_attempts && !by_time) return std::nullopt;
  return delay;
}

}  // namespace headrace::s3
