// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/seek_shelf.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kStretch = 512;  // samples an entry: about 2 MB for pictures of 100 KB
constexpr std::uint64_t kParts = 16;     // ranks beyond share them, and may lose each other's

/// By sample, counted from the stretch's first.
using Indexes = std::map<std::uint32_t, ByteSpan>;

std::uint32_t number_at(ByteSpan bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// What the entry holds; nothing of it if it is not well formed.
Indexes parse(ByteSpan entry) {
  constexpr std::size_t kHead = 8;
  Indexes found;
  while (!entry.empty()) {
    if (entry.size() < kHead) return {};
    const std::uint32_t sample = number_at(entry, 0);
    const std::uint32_t length = number_at(entry, 4);
    if (sample >= kStretch || length > entry.size() - kHead) return {};
    found[sample] = entry.subspan(kHead, length);
    entry = entry.subspan(kHead + length);
  }
  return found;
}

std::vector<std::byte> encode(const Indexes& indexes) {
  std::vector<std::byte> entry;
  const auto append = [&entry](ByteSpan bytes) {
    entry.insert(entry.end(), bytes.begin(), bytes.end());
  };
  for (const auto& [sample, index] : indexes) {
    const std::uint32_t head[2] = {sample, static_cast<std::uint32_t>(index.size())};
    append(std::as_bytes(std::span(head)));
    append(index);
  }
  return entry;
}

}  // namespace

SeekShelf::SeekShelf(SideStore& side, std::string store, std::string fingerprint,
                     std::uint64_t samples, std::uint64_t rank, std::string kind)
    : side_(side),
      store_(std::move(store)),
      fingerprint_(std::move(fingerprint)),
      kind_(std::move(kind)),
      samples_(samples),
      part_(rank % kParts),
      saved_((samples + kStretch - 1) / kStretch) {}

std::uint64_t SeekShelf::stretches() const { return saved_.size(); }

SideKey SeekShelf::key(std::uint64_t stretch, std::uint64_t part) const {
  return {.store = store_,
          .object = fingerprint_,
          .kind = kind_,
          .version = kVersion,
          .offset = stretch * kParts + part};
}

std::uint64_t SeekShelf::load(SeekMemory& into, const std::stop_token& stop) {
  std::uint64_t count = 0;
  for (std::uint64_t stretch = 0; stretch < stretches(); ++stretch) {
    for (std::uint64_t part = 0; part < kParts; ++part) {
      if (stop.stop_requested()) return count;
      const auto entry = side_.get(key(stretch, part));
      if (!entry) return count;  // out of reach: so is the rest
      if (!*entry) continue;
      for (const auto& [at, index] : parse((*entry)->span())) {
        const std::uint64_t sample = stretch * kStretch + at;
        if (sample >= samples_) break;
        into.put(sample, index, SeekMemory::Origin::kept);
        ++count;
      }
    }
  }
  return count;
}

Result<void> SeekShelf::save(SeekMemory& memory, const std::stop_token& stop) {
  for (std::uint64_t stretch = 0; stretch < stretches(); ++stretch) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    HEADRACE_TRY(save_stretch(memory, stretch));
  }
  return {};
}

Result<void> SeekShelf::save_stretch(SeekMemory& memory, std::uint64_t stretch) {
  Indexes recorded;
  std::vector<Bytes> held;  // what `recorded` borrows
  const std::uint64_t first = stretch * kStretch;
  for (std::uint64_t sample = first; sample < std::min(first + kStretch, samples_); ++sample) {
    if (!memory.is_recorded(sample)) continue;
    recorded[static_cast<std::uint32_t>(sample - first)] = memory.get(sample);
  }
  const std::size_t count = recorded.size();
  if (count <= saved_[stretch]) return {};
  for (std::uint64_t part = 0; part < kParts; ++part) {
    HEADRACE_TRY(const auto entry, side_.get(key(stretch, part)));
    if (!entry) continue;
    const Indexes there = parse(entry->span());
    if (part == part_) {
      held.push_back(*entry);  // what this rank kept in an earlier job stays
      recorded.insert(there.begin(), there.end());
      continue;
    }
    for (const auto& [at, index] : there) {  // once is enough, whichever rank made it
      recorded.erase(at);
      if (first + at < samples_) memory.put(first + at, index, SeekMemory::Origin::kept);
    }
  }
  if (!recorded.empty()) HEADRACE_TRY(side_.put(key(stretch, part_), encode(recorded)));
  saved_[stretch] = static_cast<std::uint16_t>(count);
  return {};
}

}  // namespace headrace
