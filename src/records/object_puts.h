// SPDX-License-Identifier: Apache-2.0
/// \file Many small objects into a store, several at a time: for formats with an object a sample.
///
/// Not thread-safe: one writer. The place must outlive it.
#pragma once

#include <string>
#include <utility>

#include "headrace/records/ordered_pool.h"
#include "headrace/records/shard_writer.h"

namespace headrace {

class ObjectPuts {
 public:
  explicit ObjectPuts(const SetPlace& place) : place_(place), pool_(kWriters) {}

  /// The bytes are copied. An error may be that of an object that was added before.
  Result<void> add(std::string key, ByteSpan content) {
    pool_.hand_in([this, key = std::move(key), bytes = Bytes::copy_of(content)]() -> Result<void> {
      if (place_.resumed) {  // objects appear whole: what is there is what belongs there
        const auto there = place_.store.head(key, place_.stop);
        if (there && there->size == bytes.size()) return {};
      }
      HEADRACE_TRY(put(place_.store, key, bytes.span(), place_.stop));
      return {};
    });
    while (!pool_.hungry()) HEADRACE_TRY(pool_.take());
    return {};
  }

  /// All are durable and visible when this returns.
  Result<void> finish() {
    while (!pool_.empty()) HEADRACE_TRY(pool_.take());
    return {};
  }

 private:
  static constexpr unsigned kWriters = 16;

  const SetPlace& place_;
  OrderedPool<Result<void>> pool_;
};

}  // namespace headrace
