// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/listing.h"

#include <algorithm>
#include <iterator>

#include "headrace/records/parallel.h"
#include "headrace/records/split_listing.h"

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
  if (NearLister* const pieces = near_lister(store); pieces != nullptr)
    return list_in_pieces(*pieces, folders, listers, stop, sink);
  return parallel_for(folders.size(), listers, stop,
                      [&](std::size_t folder, const std::stop_token& any_stop) {
                        return store.list({.prefix = folders[folder]}, any_stop,
                                          [&sink, &any_stop](ListPage&& page) -> Result<bool> {
                                            HEADRACE_TRY(sink(page.objects));
                                            return !any_stop.stop_requested();
                                          });
                      });
}

Result<void> list_below(Store& store, const std::string& prefix, unsigned listers,
                        const std::stop_token& stop, const ObjectSink& sink) {
  constexpr std::size_t kFlat = 4000;  // so many objects beside the folders: then in pieces
  if (near_lister(store) == nullptr) {
    HEADRACE_TRY(const auto folders, find_folders(store, prefix, stop, sink));
    return list_folders(store, folders, listers, stop, sink);
  }
  std::vector<std::string> folders;
  std::vector<ObjectInfo> beside;
  const auto take = [&](ListPage&& page) -> Result<bool> {
    std::ranges::move(page.folders, std::back_inserter(folders));
    std::ranges::move(page.objects, std::back_inserter(beside));
    return beside.size() < kFlat;
  };
  HEADRACE_TRY(store.list({.prefix = prefix, .by_folder = true}, stop, take));
  if (beside.size() >= kFlat)
    return list_folders(store, std::span(&prefix, 1), listers, stop, sink);
  HEADRACE_TRY(sink(beside));
  std::ranges::sort(folders);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return list_folders(store, folders, listers, stop, sink);
}

}  // namespace headrace
