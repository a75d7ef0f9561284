// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/list_index.h"

#include "headrace/storage/sorted_list.h"

namespace headrace {

Result<void> list_index(const ObjectIndex& objects, const ListRequest& request,
                        const std::stop_token& stop,
                        const std::function<Result<bool>(ListPage&&)>& sink) {
  return list_sorted(
      objects, [&objects](std::uint64_t i) { return objects.info(i); }, request, stop, sink);
}

}  // namespace headrace
