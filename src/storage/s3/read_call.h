// SPDX-License-Identifier: Apache-2.0
/// \file Reads one range of one object by GET into a buffer of its size; a large one in parts.
#pragma once

#include <string>

#include "headrace/storage/s3/service.h"
#include "headrace/storage/store.h"

namespace headrace::s3 {

/// `key` and `place` are of the whole object. `done` is called once, on a loop's thread.
/// REQUIRES: request.range is not empty as far as known
void start_read(Service& service, std::string key, std::string place, ReadRequest request,
                ReadDone done);

}  // namespace headrace::s3
