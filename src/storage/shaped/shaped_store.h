// SPDX-License-Identifier: Apache-2.0
/// \file A store that is as slow as a medium: S3, EFS, gp3, a FIFO, on whatever lies beneath.
///
/// Thread-safe. A read is passed on at once and delivered by a timer thread when the medium would
/// have delivered it: after its place in the request rate, the first-byte latency, and the time
/// its bytes take at the rate of one connection and at the rate that all share. If the store
/// beneath is slower than that, its own time counts. Writes are not shaped.
///
///     auto gp3 = make_shaped_store(local, media.find("ebs-gp3"), context, seed);
#pragma once

#include <cstdint>
#include <memory>

#include "headrace/base/context.h"
#include "headrace/storage/shaped/media.h"
#include "headrace/storage/store.h"

namespace headrace {

/// `base` must outlive it. Latencies are a function of `seed` and the number of the request;
/// time is `context.clock`.
std::unique_ptr<Store> make_shaped_store(Store& base, const Medium& medium, const Context& context,
                                         std::uint64_t seed = 0);

}  // namespace headrace
