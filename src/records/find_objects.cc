// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/find_objects.h"

#include <algorithm>
#include <span>
#include <string>

#include "headrace/base/mutex.h"
#include "headrace/records/listing.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

/// The folder that holds all: "" or ends in '/'.
std::string common_folder(std::string_view first, std::string_view last) {
  const auto [end, ignored] = std::ranges::mismatch(first, last);
  const std::string_view shared = first.substr(0, static_cast<std::size_t>(end - first.begin()));
  return std::string(shared.substr(0, shared.rfind('/') + 1));
}

}  // namespace

Result<ObjectIndex> find_objects(Store& store, std::size_t count,
                                 const std::function<std::string_view(std::size_t)>& key_at,
                                 const std::stop_token& stop) {
  constexpr std::size_t kAskOneByOne = 256;
  constexpr unsigned kAskers = 16;
  HEADRACE_TRY(auto index, ObjectIndexBuilder::make());
  Mutex mutex;
  bool any_archived = false;  // maybe one that the list does not name
  const auto add = [&](std::span<const ObjectInfo> objects) -> Result<void> {
    const MutexLock lock(mutex);
    for (const ObjectInfo& object : objects) {
      any_archived = any_archived || object.archived;
      HEADRACE_TRY(index.add(object));
    }
    return {};
  };
  if (count <= kAskOneByOne) {
    HEADRACE_TRY(parallel_for(count, kAskers, stop,
                              [&](std::size_t i, const std::stop_token& any_stop) -> Result<void> {
                                auto info = store.head(std::string(key_at(i)), any_stop);
                                if (!info && info.error().code() == Code::not_found)
                                  return {};  // whoever asked knows the line
                                HEADRACE_TRY(const auto object, std::move(info));
                                return add(std::span(&object, 1));
                              }));
  } else {
    const std::string folder = common_folder(key_at(0), key_at(count - 1));
    HEADRACE_TRY(list_below(store, folder, kListers, stop, add));
  }
  HEADRACE_TRY(auto found, index.finish());
  for (std::size_t i = 0; any_archived && i < count; ++i) {
    const auto ordinal = found.find(key_at(i));
    if (ordinal && found.archived(*ordinal)) {
      return Error(Code::invalid, "the object is archived and cannot be read",
                   "restore it first, or leave it out of the list")
          .at(object_place(store.describe(), key_at(i)));
    }
  }
  return found;
}

}  // namespace headrace
