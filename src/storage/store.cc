// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/store.h"

#include <algorithm>
#include <future>

namespace headrace {

Result<ReadResult> read_now(Store& store, ReadRequest request) {
  std::promise<Result<ReadResult>> promise;
  auto answer = promise.get_future();
  store.read(std::move(request),
             [&promise](Result<ReadResult> result) { promise.set_value(std::move(result)); });
  return answer.get();
}

Result<Pin> put(Store& store, const std::string& key, ByteSpan bytes, const std::stop_token& stop) {
  HEADRACE_TRY(auto writer, store.create(key, stop));
  HEADRACE_TRY(writer->append(bytes));
  return writer->finish();
}

Result<std::vector<ObjectInfo>> list_all(Store& store, const std::string& prefix,
                                         const std::stop_token& stop) {
  std::vector<ObjectInfo> all;
  HEADRACE_TRY(store.list({.prefix = prefix}, stop, [&all](ListPage&& page) -> Result<bool> {
    std::ranges::move(page.objects, std::back_inserter(all));
    return true;
  }));
  std::ranges::sort(all, {}, &ObjectInfo::key);
  return all;
}

}  // namespace headrace
