// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/metrics.h"

namespace headrace {

std::string_view to_string(Metric metric) {
  static constexpr std::array<std::string_view, Metrics::kCount> names = {
      "bytes_origin", "bytes_cache",      "requests",         "requests_list",
      "retries",      "hedges",           "cache_hits",       "cache_misses",
      "decode_nanos", "wait_fetch_nanos", "wait_batch_nanos", "wait_next_nanos"};
  return names.at(static_cast<std::size_t>(metric));
}

}  // namespace headrace
