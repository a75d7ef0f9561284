// SPDX-License-Identifier: Apache-2.0
/// \file The same work on many numbers, several at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "headrace/base/result.h"

namespace headrace {

/// Calls `work(i, stop)` for every i below `count`, from at most `threads` threads; starts them in
/// order. The first error asks the others to stop and is returned; `cancelled` if `stop` was
/// asked for.
Result<void> parallel_for(
    std::size_t count, unsigned threads, const std::stop_token& stop,
    const std::function<Result<void>(std::size_t index, const std::stop_token& stop)>& work);

}  // namespace headrace
