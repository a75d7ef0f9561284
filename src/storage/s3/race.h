// SPDX-License-Identifier: Apache-2.0
/// \file One read of an object that fits one request, sent a second time if it is slow to begin.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/s3/range_get.h"

namespace headrace::s3 {

/// `done` is called once, on a loop's thread. Without a pin, or with hedging off, it is sent once.
void start_whole_read(Service& service, std::string key, std::string place, Span span,
                      std::optional<Pin> pin, const std::stop_token& stop, ReadDone done);

}  // namespace headrace::s3
