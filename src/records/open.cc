// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/formats.h"
#include "headrace/records/list/list.h"
#include "headrace/records/listing.h"
#include "headrace/records/snapshot/keeping.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

/// Containers lie in the root, or all in folders below it; pictures lie in class folders.
class Finder {
 public:
  Finder(Store& store, const std::stop_token& stop) : store_(store), stop_(stop) {}

  Result<const Format*> find() {
    HEADRACE_TRY(const auto folders,
                 find_folders(store_, "", stop_, [this](std::span<const ObjectInfo> page) {
                   keep_first(page, kLookedInRoot);
                   return Result<void>();
                 }));
    for (std::size_t i = 0; i < folders.size() && first_.empty(); ++i)
      HEADRACE_TRY(peek_into(folders[i]));
    for (const ObjectInfo& object : first_) {
      HEADRACE_TRY(const Format* format, format_of(object));
      if (format != nullptr) return format;
    }
    // Among class folders a stray file must stay an error that names it.
    return find_format("folder");
  }

 private:
  static constexpr std::size_t kLookedInRoot = 16;

  static bool is_marker(std::string_view key) {
    return std::ranges::any_of(formats(),
                               [key](const Format& format) { return format.kind.is_marker(key); });
  }

  void keep_first(std::span<const ObjectInfo> page, std::size_t most) {
    for (const ObjectInfo& object : page) {
      if (first_.size() == most) break;
      if (!is_sample_key(object.key) || object.archived) continue;
      if (is_marker(object.key)) {
        first_.insert(first_.begin(), object);
      } else if (!is_side_file(object.key)) {
        first_.push_back(object);
      }
    }
  }

  /// One object tells: reading more of a set of pictures would only cost time.
  Result<void> peek_into(const std::string& folder) {
    return store_.list({.prefix = folder}, stop_, [this](ListPage&& page) -> Result<bool> {
      keep_first(page.objects, 1);
      return first_.empty();
    });
  }

  /// By what its first bytes say, else by its name: its head may be damaged. Null if by neither.
  Result<const Format*> format_of(const ObjectInfo& object) {
    HEADRACE_TRY(const auto head, first_bytes(store_, object, stop_));
    for (const Format& format : formats()) {
      if (!format.kind.begins || !format.kind.begins(head.span())) continue;
      for (const Format& inner : formats())
        if (inner.kind.within == format.name && inner.kind.has_suffix(object.key)) return &inner;
      return &format;
    }
    for (const Format& format : formats())
      if (format.kind.has_suffix(object.key)) return &format;
    return nullptr;
  }

  Store& store_;
  const std::stop_token& stop_;
  std::vector<ObjectInfo> first_;
};

}  // namespace

Result<const Format*> recognise_format(Store& store, const std::stop_token& stop) {
  return Finder(store, stop).find();
}

std::uint64_t record_number(const Dataset& set, SampleId id) {
  const std::string key = set.locate(id).key;
  std::uint64_t low = 0;  // samples of one object are neighbours, in order
  auto high = static_cast<std::uint64_t>(id);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (set.locate(SampleId{middle}).key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<std::uint64_t>(id) - low;
}

Result<std::unique_ptr<Dataset>> open_dataset(Store& store, const Context& context,
                                              const OpenOptions& options) {
  if (!options.list.empty()) return open_list(store, context, options);
  if (options.format == "lst" || options.format == "csv")
    return Error(Code::invalid, "the list is missing", "name it with --list");
  const Format* format = find_format(options.format);
  if (options.format == "auto") {
    // Its objects are pinned: what they were recognised as, they are.
    const auto snapshot = snapshot_of(store);
    format = snapshot != nullptr ? find_format(snapshot->format()) : nullptr;
    if (format == nullptr) {
      HEADRACE_TRY(format, recognise_format(store, options.stop));
    }
  }
  if (format == nullptr) {
    return Error(Code::invalid, fmt::format("unknown format \"{}\"", options.format),
                 fmt::format("one of auto, {}, lst, csv", format_names()));
  }
  HEADRACE_TRY(auto set, format->open(store, context, options));
  if (set->size() == 0 && !options.allow_empty) {
    const auto shards = find_containers(store, context, format->kind, options.stop);
    const bool one = shards && shards->size() == 1;
    return Error(Code::not_found,
                 fmt::format("no samples: no {} holds a record", format->kind.what),
                 "check that packing or copying was finished")
        .at(one ? object_place(store.describe(), shards->front().key) : store.describe());
  }
  return set;
}

}  // namespace headrace
