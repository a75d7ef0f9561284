// SPDX-License-Identifier: Apache-2.0
/// \file One part of a large read, into its place in the whole; sent a second time if it is slower
/// than the rest.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headrace/storage/s3/range_get.h"

namespace headrace::s3 {

/// A part that has come: the object that answered, and a checksum which is not of this part alone.
struct PartCame {
  Pin pin;
  std::optional<ToldChecksum> of_object;
};

/// `into` must live until `done`, which is called once, on a loop's thread, when nobody writes
/// there any more. The second request has memory of its own, at most four parts at once.
void start_part(Service& service, const std::string& key, const std::string& place,
                const ByteRange& range, const Pin& pin, std::span<std::byte> into,
                const std::stop_token& stop, std::function<void(Result<PartCame>)> done);

}  // namespace headrace::s3
