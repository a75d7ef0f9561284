// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headrace/storage/keep/local_disk.h"
#include "headrace/storage/keep/segment.h"

namespace headrace::keep {
namespace {

Result<std::unique_ptr<Disk>> open_cache(const std::string& dir) {
  HEADRACE_TRY(auto local, open_local_disk(dir, false));
  return std::move(local.disk);
}

Error stopped(const std::string& dir) { return Error(Code::cancelled, "stopped").at(dir); }

struct Found {
  SegmentName name;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
};

struct Listing {
  std::vector<Found> segments;  ///< by sequence
  std::vector<DiskEntry> others;
};

Result<Listing> list_segments(Disk& disk) {
  HEADRACE_TRY(const auto entries, disk.list());
  std::map<std::string, Found> by_stem;
  Listing listing;
  const auto stem_of = [](const DiskEntry& entry, std::string_view suffix) -> std::string {
    return entry.name.ends_with(suffix) ? entry.name.substr(0, entry.name.size() - suffix.size())
                                        : "";
  };
  for (const DiskEntry& entry : entries) {
    const auto name = SegmentName::parse(stem_of(entry, ".log"));
    if (name) by_stem[name->stem()] = {*name, entry.bytes, entry.modified_ns};
  }
  for (const DiskEntry& entry : entries) {
    if (entry.name.ends_with(".log") && SegmentName::parse(stem_of(entry, ".log"))) continue;
    const auto found = by_stem.find(stem_of(entry, ".data"));
    if (found != by_stem.end()) {
      found->second.bytes += entry.bytes;
    } else {
      listing.others.push_back(entry);
    }
  }
  for (auto& [stem, found] : by_stem) listing.segments.push_back(found);
  std::ranges::sort(listing.segments, {}, [](const Found& found) { return found.name.sequence; });
  return listing;
}

}  // namespace

Result<Survey> survey(const std::string& dir, const std::stop_token& stop) {
  HEADRACE_TRY(const auto disk, open_cache(dir));
  HEADRACE_TRY(const auto listing, list_segments(*disk));
  HEADRACE_TRY(const DiskSpace space, disk->space());
  Survey result{.dir = dir, .free_bytes = space.available};
  for (const DiskEntry& entry : listing.others) {
    result.disk_bytes += entry.bytes;
    result.left_behind_bytes += entry.bytes;
  }
  for (const Found& found : listing.segments) {
    if (stop.stop_requested()) return stopped(dir);
    SegmentReport report{.name = found.name.stem(),
                         .disk_bytes = found.bytes,
                         .capacity = found.name.capacity,
                         .used_ns = found.modified_ns};
    result.disk_bytes += found.bytes;
    if (auto segment = Segment::open(*disk, found.name)) {
      report.store = (*segment)->header().store;
      HEADRACE_TRY((*segment)->follow([&report](const Entry& entry) {
        ++report.pieces;
        report.objects += entry.kind == EntryKind::object && entry.offset == 0 ? 1 : 0;
        report.data_bytes += entry.length;
      }));
      HEADRACE_TRY(report.live, (*segment)->is_live());
      HEADRACE_TRY(report.wanted, (*segment)->is_wanted());
    }
    result.segments.push_back(std::move(report));
  }
  return result;
}

Result<void> list_pieces(const std::string& dir, const std::stop_token& stop,
                         const std::function<Result<void>(const KeptPiece&)>& sink) {
  HEADRACE_TRY(const auto disk, open_cache(dir));
  HEADRACE_TRY(const auto listing, list_segments(*disk));
  for (const Found& found : listing.segments) {
    auto segment = Segment::open(*disk, found.name);
    if (!segment) continue;  // evicted meanwhile, or not of this version
    Result<void> taken;
    HEADRACE_TRY((*segment)->follow([&](const Entry& entry) {
      if (!taken || stop.stop_requested()) return;
      taken = sink({.store = (*segment)->header().store,
                    .key = std::string(entry.name),
                    .offset = entry.offset,
                    .length = entry.length,
                    .derived = entry.kind == EntryKind::side});
    }));
    HEADRACE_TRY(taken);
    if (stop.stop_requested()) return stopped(dir);
  }
  return {};
}

Result<Verification> verify(const std::string& dir, bool purge, const std::stop_token& stop,
                            const std::function<void(const Verification&)>& progress) {
  HEADRACE_TRY(const auto disk, open_cache(dir));
  HEADRACE_TRY(const auto listing, list_segments(*disk));
  Verification result;
  std::vector<std::byte> buffer(kLongestPiece);
  for (const Found& found : listing.segments) {
    auto segment = Segment::open(*disk, found.name);
    if (!segment) {
      if (segment.error().code() != Code::not_found)
        result.damaged.push_back({found.name.stem(), "", 0, segment.error().to_string()});
      continue;
    }
    const std::size_t before = result.damaged.size();
    HEADRACE_TRY((*segment)->follow([&](const Entry& entry) {
      if (stop.stop_requested()) return;
      const auto into = std::span(buffer).first(entry.length);
      auto read = (*segment)->read(entry.data_offset, into, true);
      ++result.pieces;
      result.bytes += entry.length;
      std::string why;
      if (!read) {
        why = read.error().to_string();
      } else if (hash_bytes(into) != entry.payload) {
        why = "does not match its hash";
      }
      if (!why.empty()) {
        result.damaged.push_back(
            {found.name.stem(), std::string(entry.name), entry.data_offset, why});
      }
      progress(result);
    }));
    if (stop.stop_requested()) return stopped(dir);
    if (purge && result.damaged.size() > before) {
      segment = Error(Code::cancelled, "closed");  // our own handle must not keep it
      HEADRACE_TRY(const bool gone, evict_segment(*disk, found.name));
      if (gone) result.purged.push_back(found.name.stem());
    }
  }
  return result;
}

Result<Purge> purge(const std::string& dir, const std::string& store, const std::stop_token& stop) {
  HEADRACE_TRY(const auto disk, open_cache(dir));
  HEADRACE_TRY(const auto listing, list_segments(*disk));
  Purge result;
  for (const DiskEntry& entry : listing.others) {
    const auto tidied = tidy_up(*disk, entry.name);
    if (tidied && *tidied) result.bytes += entry.bytes;
  }
  for (const Found& found : listing.segments) {
    if (stop.stop_requested()) return stopped(dir);
    if (!store.empty()) {
      const auto segment = Segment::open(*disk, found.name);
      if (!segment || (*segment)->header().store != store) continue;
    }
    HEADRACE_TRY(const bool gone, evict_segment(*disk, found.name));
    if (gone) {
      ++result.segments;
      result.bytes += found.bytes;
    } else {
      ++result.in_use;
    }
  }
  return result;
}

}  // namespace headrace::keep
