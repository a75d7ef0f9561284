// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/list/list.h"
#include "headrace/records/listing.h"
#include "headrace/records/recordio/recordio.h"

namespace headrace {
namespace {

/// Containers lie in the root, or all in folders below it; pictures lie in class folders.
class Finder {
 public:
  Finder(Store& store, const std::stop_token& stop) : store_(store), stop_(stop) {}

  Result<std::string> find() {
    HEADRACE_TRY(const auto folders,
                 find_folders(store_, "", stop_, [this](std::span<const ObjectInfo> page) {
                   keep_first(page, kLookedInRoot);
                   return Result<void>();
                 }));
    for (std::size_t i = 0; i < folders.size() && first_.empty(); ++i)
      HEADRACE_TRY(peek_into(folders[i]));
    for (const ObjectInfo& object : first_) {
      HEADRACE_TRY(auto format, format_of(object));
      if (!format.empty()) return format;
    }
    // Among class folders a stray file must stay an error that names it.
    return std::string("folder");
  }

 private:
  static constexpr std::size_t kLookedInRoot = 16;

  void keep_first(std::span<const ObjectInfo> page, std::size_t most) {
    for (const ObjectInfo& object : page) {
      if (first_.size() == most) break;
      if (is_sample_key(object.key) && !is_side_file(object.key) && !object.archived)
        first_.push_back(object);
    }
  }

  /// One object tells: reading more of a set of pictures would only cost time.
  Result<void> peek_into(const std::string& folder) {
    return store_.list({.prefix = folder}, stop_, [this](ListPage&& page) -> Result<bool> {
      keep_first(page.objects, 1);
      return first_.empty();
    });
  }

  Result<std::string> format_of(const ObjectInfo& object) {
    if (object.key.ends_with(".rec")) return std::string("recordio");  // its head may be damaged
    HEADRACE_TRY(const auto head, first_bytes(store_, object, stop_));
    if (is_recordio(head.span())) return std::string("recordio");
    return std::string();
  }

  Store& store_;
  const std::stop_token& stop_;
  std::vector<ObjectInfo> first_;
};

}  // namespace

Result<std::unique_ptr<Dataset>> open_dataset(Store& store, const Context& context,
                                              const OpenOptions& options) {
  if (!options.list.empty()) return open_list(store, context, options);
  std::string format = options.format;
  if (format == "auto") {
    HEADRACE_TRY(format, Finder(store, options.stop).find());
  }
  if (format == "folder") return open_folder(store, context, options);
  if (format == "recordio") {
    HEADRACE_TRY(auto set, open_recordio(store, context, options));
    if (set->size() == 0) {
      return Error(Code::not_found, "no samples: no record file holds a record",
                   "check that packing or copying was finished")
          .at(store.describe());
    }
    return Result<std::unique_ptr<Dataset>>(std::move(set));
  }
  if (format == "lst" || format == "csv")
    return Error(Code::invalid, "the list is missing", "name it with --list");
  return Error(Code::invalid, fmt::format("unknown format \"{}\"", format),
               "one of auto, folder, recordio, lst, csv");
}

}  // namespace headrace
