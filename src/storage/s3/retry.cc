// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/retry.h"

#include <algorithm>
#include <cmath>

namespace headrace::s3 {

std::optional<Nanos> next_delay(const RetryOptions& options, Again again, int attempt,
                                Nanos elapsed, Nanos at_least, Random& random) {
  if (again == Again::no) return std::nullopt;
  const int most = again == Again::yes ? options.attempts : options.connect_attempts;
  if (attempt >= most) return std::nullopt;
  const double bound = std::min(std::ldexp(static_cast<double>(options.base.count()), attempt - 1),
                                static_cast<double>(options.cap.count()));
  Nanos delay(static_cast<std::int64_t>(bound * random.uniform()));
  // What the server asks for is added to, so that the nodes it turned away do not return as one.
  delay += std::min(at_least, options.cap * 6);
  if (elapsed + delay > options.budget) return std::nullopt;
  return delay;
}

}  // namespace headrace::s3
