// SPDX-License-Identifier: Apache-2.0
/// \file One short answer, waited for: for what is asked seldom, as credentials are.
///
/// Thread-safe: a loop of its own for each call. Not for data.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "headrace/base/result.h"
#include "headrace/storage/http/exchange.h"
#include "headrace/storage/http/loop.h"

namespace headrace::http {

struct Response {
  int status = 0;
  std::string body;  ///< at most 1 MiB
};

struct FetchOptions {
  LoopOptions loop;
  int attempts = 3;                              ///< where nobody answers, or with 429 or 5xx
  Nanos pause = std::chrono::milliseconds(200);  ///< before the second; doubled each time
};

/// Any status is a response. `unavailable` if none came, `cancelled`.
Result<Response> fetch(const Request& request, const FetchOptions& options,
                       const std::stop_token& stop);

}  // namespace headrace::http
