// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "headrace/base/parse_number.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

constexpr unsigned kReaders = 16;
// A folder of pictures taken for containers would be asked for one by one.
constexpr std::size_t kMaxObjects = 1'000'000;

}  // namespace

bool ContainerKind::has_suffix(std::string_view key) const {
  return std::ranges::any_of(suffixes, [key](const auto& suffix) { return key.ends_with(suffix); });
}

bool ContainerKind::is_marker(std::string_view key) const {
  return !marker.empty() && key.substr(key.rfind('/') + 1) == marker;
}

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

namespace {

struct ShardName {
  std::string_view stem;
  std::uint64_t number = 0;
  std::uint64_t total = 0;
};

/// Of STEM-NUMBER-of-TOTAL with a suffix or without, as pack and others write it; nothing for other
/// names.
std::optional<ShardName> parse_shard_name(std::string_view key,
                                          const std::vector<std::string>& suffixes) {
  for (const std::string& suffix : suffixes) {
    if (!key.ends_with(suffix)) continue;
    key.remove_suffix(suffix.size());
    break;
  }
  constexpr std::string_view kOf = "-of-";
  const auto of = key.rfind(kOf);
  if (of == std::string_view::npos || of == 0) return std::nullopt;
  const auto dash = key.rfind('-', of - 1);
  if (dash == std::string_view::npos) return std::nullopt;
  ShardName name{.stem = key.substr(0, dash)};
  const auto number = parse_number<std::uint64_t>(key.substr(dash + 1, of - dash - 1));
  const auto total = parse_number<std::uint64_t>(key.substr(of + kOf.size()));
  if (!number || !total) return std::nullopt;
  name.number = *number;
  name.total = *total;
  return name;
}

/// Names that promise more shards than there are: samples may be lost. It is said and no error,
/// since a node may have been given some of the shards.
void note_missing_shards(std::span<const ObjectInfo> containers, const ContainerKind& kind,
                         const Context& context) {
  std::map<std::pair<std::string_view, std::uint64_t>, std::set<std::uint64_t>> sets;
  for (const ObjectInfo& object : containers) {
    const auto name = parse_shard_name(object.key, kind.suffixes);
    if (name) sets[{name->stem, name->total}].insert(name->number);
  }
  for (const auto& [of, numbers] : sets) {
    if (numbers.size() >= of.second) continue;
    std::uint64_t missing = numbers.count(of.second);  // some count from 1
    while (numbers.count(missing) != 0) ++missing;
    context.notices->add(
        "shards-missing",
        fmt::format("{} of {} shards of \"{}\" are there, number {} is not: the set is not whole",
                    numbers.size(), of.second, of.first, missing));
  }
}

}  // namespace

Result<std::vector<ObjectInfo>> find_containers(Store& store, const Context& context,
                                                const ContainerKind& kind,
                                                const std::stop_token& stop) {
  std::vector<ObjectInfo> candidates;
  std::uint64_t others = 0;
  const auto take = [&](ListPage&& page) -> Result<bool> {
    for (ObjectInfo& object : page.objects) {
      const bool named = kind.has_suffix(object.key);
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
                              if (kind.has_suffix(candidates[i].key)) {
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
  // One shard by its own path is what was asked for; nothing else is seen then.
  if (containers.size() > 1 || others > 0) note_missing_shards(containers, kind, context);
  return containers;
}

}  // namespace headrace
