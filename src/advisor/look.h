// SPDX-License-Identifier: Apache-2.0
/// \file What a URI holds: its format, how many pictures, how many bytes. Thread-safe.
#pragma once

#include <stop_token>
#include <string>

#include "headrace/advisor/comparison.h"
#include "headrace/job/job.h"

namespace headrace::advisor {

/// Opens a job on the URI, which lists it or reads its index, and asks its data set.
Result<SetInfo> look_at_set(const std::string& uri, const OpenOptions& open,
                            const std::stop_token& stop);

}  // namespace headrace::advisor
