// SPDX-License-Identifier: Apache-2.0
/// \file How well an order mixes a set that is sorted by class, against a true shuffle. Pure.
///
/// The measure: how many different classes a batch holds, as a mean over the epoch's whole batches,
/// divided by what it would be if each batch were drawn from the whole set by chance. 1 is a true
/// shuffle; an order that leaves the set sorted gives about 1 / that expectation.
#pragma once

#include <cstdint>

#include "headrace/sampling/order.h"

namespace headrace {

/// `classes` classes of equal size, the set sorted by class. REQUIRES: batch <= order.size()
double mixing(const Order& order, std::uint64_t classes, std::uint64_t batch);

}  // namespace headrace
