// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace headrace::mds {

Result<ShardFrames> no_samples(const ObjectInfo& object, const Shard& shard,
                               const std::string& why) {
  HEADRACE_TRY(auto frames, ShardFrames::make());
  frames.source = "index.json";
  for (std::uint64_t i = 0; i < shard.samples; ++i)
    HEADRACE_TRY(frames.add(Damage{.begin = 0, .end = object.size, .why = why}));
  return frames;
}

Result<ShardFrames> find_samples(Store& store, const ObjectInfo& object, const Shard& shard,
                                 const std::stop_token& stop) {
  const std::uint64_t head = 4 * (shard.samples + 2);  // the count, and an offset more than samples
  if (head > object.size) {
    return no_samples(object, shard,
                      fmt::format("{} bytes, too few for {} samples", object.size, shard.samples));
  }
  HEADRACE_TRY(
      const auto read,
      read_now(store, {.key = object.key, .range = {0, head}, .pin = object.pin, .stop = stop}));
  std::vector<std::uint32_t> words(shard.samples + 2);
  std::memcpy(words.data(), read.bytes.data(), head);
  if (words[0] != shard.samples) {
    return no_samples(
        object, shard,
        fmt::format("the shard says {} samples, the index {}", words[0], shard.samples));
  }
  HEADRACE_TRY(auto frames, ShardFrames::make());
  frames.source = "index.json";
  std::uint64_t at = head;  // no sample lies before it
  for (std::size_t i = 1; i <= shard.samples; ++i) {
    const std::uint64_t begin = words[i];
    const std::uint64_t end = words[i + 1];
    if (begin < at || end < begin) {
      HEADRACE_TRY(frames.add(
          Damage{.begin = at,
                 .end = at,
                 .why = fmt::format("sample {} from byte {} to {}", i - 1, begin, end)}));
    } else if (end > object.size) {
      HEADRACE_TRY(frames.add(
          Damage{.begin = std::min(begin, object.size),
                 .end = object.size,
                 .why = fmt::format("sample {} from byte {} to {} leaves the shard of {} bytes",
                                    i - 1, begin, end, object.size)}));
    } else {
      HEADRACE_TRY(frames.add(begin, end));
      at = end;
    }
  }
  return frames;
}

}  // namespace headrace::mds
