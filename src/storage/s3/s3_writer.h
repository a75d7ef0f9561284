// SPDX-License-Identifier: Apache-2.0
/// \file An object on its way into S3: one PUT if it is small, parts side by side if it is not.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/s3/service.h"
#include "headrace/storage/store.h"

namespace headrace::s3 {

/// Nothing is sent before 8 MiB are there, or `finish`. Destroyed before it, an upload that had
/// begun is aborted, so that no parts stay and cost. `stop` also ends `append` and `finish`.
std::unique_ptr<ObjectWriter> make_writer(Service& service, std::string key, std::string place,
                                          const std::stop_token& stop);

/// The pin of an object by HEAD.
Result<Pin> head_pin(Service& service, const std::string& key, const std::string& place,
                     const std::stop_token& stop);

}  // namespace headrace::s3
