// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/listing.h"

#include <algorithm>
#include <iterator>

#include "headrace/records/parallel.h"

namespace headrace {
Result<std::vector<std::string>> find_folders(Store& store, const std::string& prefix,
                                              const std::stop_token& stop,
                                              const ObjectSink& beside) {
  std::vector<std::string> folders;
  const auto take = [&folders, &beside](ListPage&& page) -> Result<bool> {
    std::ranges::move(page.folders, std::back_inserter(folders));
    HEADRACE_TRY(beside(page.objects));
    return true;
  };
  HEADRACE_TRY(store.list({.prefix = prefix, .by_folder = true}, stop, take));
  std::ranges::sort(folders);
  // A folder may end one page and begin the next.
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

Result<void> list_folders(Store& store, std::span<const std::string> folders, unsigned listers,
                          const std::stop_token& stop, const ObjectSink& sink) {
  return parallel_for(folders.size(), listers, stop,
                      [&](std::size_t folder, const std::stop_token& any_stop) {
                        return store.list({.prefix = folders[folder]}, any_stop,
                                          [&sink, &any_stop](ListPage&& page) -> Result<bool> {
                                            HEADRACE_TRY(sink(page.objects));
                                            return !any_stop.stop_requested();
                                          });
                      });
}

}  // namespace headrace
