// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "headrace/records/folder/folder.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

constexpr unsigned kReaders = 16;
// A folder of pictures taken for containers would be asked for one by one.
constexpr std::size_t kMaxObjects = 1'000'000;

}  // namespace

Result<Bytes> first_bytes(Store& store, const ObjectInfo& object, const std::stop_token& stop) {
  const ByteRange range{0, std::min(object.size, kFirstBytes)};
  HEADRACE_TRY(
      auto read,
      read_now(store, {.key = object.key, .range = range, .pin = object.pin, .stop = stop}));
  return std::move(read.bytes);
}

bool is_side_file(std::string_view key) {
  constexpr std::array<std::string_view, 9> kSuffixes = {".idx", ".lst",  ".txt", ".csv", ".json",
                                                         ".md",  ".yaml", ".yml", ".html"};
  return std::ranges::any_of(kSuffixes,
                             [key](std::string_view suffix) { return key.ends_with(suffix); });
}

Result<std::vector<ObjectInfo>> find_containers(Store& store, const Context& context,
                                                const ContainerKind& kind,
                                                const std::stop_token& stop) {
  std::vector<ObjectInfo> candidates;
  std::uint64_t others = 0;
  const auto take = [&](ListPage&& page) -> Result<bool> {
    for (ObjectInfo& object : page.objects) {
      const bool named = object.key.ends_with(kind.suffix);
      if (!named && (object.size == 0 || is_side_file(object.key) || !is_sample_key(object.key))) {
        ++others;
        continue;
      }
      if (object.archived) {
        return Error(Code::invalid, "the object is archived and cannot be read",
                     "restore it first, or leave it out of the set")
            .at(object_place(store.describe(), object.key));
      }
      if (candidates.size() == kMaxObjects) {
        return Error(Code::invalid, fmt::format("more than {} objects, which cannot all be a {}",
                                                kMaxObjects, kind.what))
            .at(store.describe());
      }
      candidates.push_back(std::move(object));
    }
    return true;
  };
  HEADRACE_TRY(store.list({}, stop, take));
  std::ranges::sort(candidates, {}, &ObjectInfo::key);

  std::vector<char> matches(candidates.size());
  HEADRACE_TRY(parallel_for(candidates.size(), kReaders, stop,
                            [&](std::size_t i, const std::stop_token& any_stop) -> Result<void> {
                              if (candidates[i].key.ends_with(kind.suffix)) {
                                matches[i] = 1;
                                return {};
                              }
                              HEADRACE_TRY(const auto head,
                                           first_bytes(store, candidates[i], any_stop));
                              matches[i] = kind.begins(head.span()) ? 1 : 0;
                              return {};
                            }));
  std::vector<ObjectInfo> containers;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (matches[i] != 0) {
      containers.push_back(std::move(candidates[i]));
      continue;
    }
    ++others;
    context.notices->add("not-a-shard",
                         fmt::format("\"{}\" is no {}", candidates[i].key, kind.what));
  }
  if (containers.empty()) {
    return Error(Code::not_found, fmt::format("no {} under {}, {} other keys seen", kind.what,
                                              store.describe(), others));
  }
  return containers;
}

}  // namespace headrace
