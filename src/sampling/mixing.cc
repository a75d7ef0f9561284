// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/mixing.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace headrace {

double mixing(const Order& order, std::uint64_t classes, std::uint64_t batch) {
  assert(batch > 0 && batch <= order.size() && classes > 0 && classes <= order.size());
  const std::uint64_t size = order.size();
  const std::uint64_t batches = size / batch;
  std::uint64_t different = 0;
  std::vector<std::uint64_t> last_seen(classes, batches);  // the batch that had it last
  for (std::uint64_t i = 0; i < batches; ++i) {
    for (std::uint64_t k = 0; k < batch; ++k) {
      const std::uint64_t sample = order.at(i * batch + k);
      std::uint64_t& last = last_seen[sample / ((size + classes - 1) / classes)];
      different += last == i ? 0 : 1;
      last = i;
    }
  }
  // A class misses a batch if each of its draws, without putting back, misses the class.
  const double each = static_cast<double>(size) / static_cast<double>(classes);
  double misses = 1;
  for (std::uint64_t k = 0; k < batch; ++k) {
    const auto left = static_cast<double>(size - k);
    misses *= std::max(0.0, (left - each) / left);
  }
  const double expected = static_cast<double>(classes) * (1 - misses);
  return static_cast<double>(different) / static_cast<double>(batches) / expected;
}

}  // namespace headrace
