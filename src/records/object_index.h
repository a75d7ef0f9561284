// SPDX-License-Identifier: Apache-2.0
/// \file Objects, sorted by key bytes, in memory that the kernel can take back.
///
/// 32 bytes an object, and its key without what it shares with the one before it. Filled by an
/// ObjectIndexBuilder, which is not thread-safe; a snapshot (snapshot/) maps one from a file. Any
/// number of readers. Example: folder/folder.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

/// One object as the index holds it, in memory and in a snapshot's file alike.
struct ObjectEntry {
  std::uint64_t name_at : 40;       ///< in the names: what front_names.h says, then a pin in full
  std::uint64_t form : 7;           ///< how the pin is kept
  std::uint64_t archived : 1;       ///< must be restored before it can be read
  std::uint64_t seconds_high : 16;  ///< hex_etag: seconds since 1970
  std::uint64_t bytes : 48;
  std::uint64_t seconds_low : 16;
  std::uint64_t pin_high;  ///< hex_etag: its first 16 digits; modified: nanoseconds since 1970
  std::uint64_t pin_low;   ///< hex_etag: its last 16 digits
};
static_assert(sizeof(ObjectEntry) == 32);

class ObjectIndex {
 public:
  /// What `owner` keeps alive. Bytes that are no index give empty keys and pins, never a fault.
  ObjectIndex(std::span<const ObjectEntry> entries, std::span<const char> names,
              std::shared_ptr<const void> owner)
      : entries_(entries), names_(names), owner_(std::move(owner)) {}

  std::uint64_t size() const { return entries_.size(); }
  std::string key(std::uint64_t ordinal) const;
  std::uint64_t bytes(std::uint64_t ordinal) const { return entries_[ordinal].bytes; }
  Pin pin(std::uint64_t ordinal) const;
  bool archived(std::uint64_t ordinal) const { return entries_[ordinal].archived != 0; }
  /// The whole object.
  Extent extent(std::uint64_t ordinal) const;
  ObjectInfo info(std::uint64_t ordinal) const;
  std::optional<std::uint64_t> find(std::string_view key) const;
  /// First ordinal whose key is not less than `key`, or size().
  std::uint64_t lower_bound(std::string_view key) const;

  /// Of key, size and pin of one object, at its place.
  Hash128 term(std::uint64_t ordinal) const;
  /// Sum of all terms.
  Hash128 fingerprint() const;

  std::span<const ObjectEntry> entries() const { return entries_; }
  std::span<const char> names() const { return names_; }

 private:
  Pin pin_of(const ObjectEntry& entry) const;
  Hash128 term(std::uint64_t ordinal, std::string_view key) const;

  std::span<const ObjectEntry> entries_;
  std::span<const char> names_;
  std::shared_ptr<const void> owner_;
};

class ObjectIndexBuilder {
 public:
  static Result<ObjectIndexBuilder> make();

  Result<void> add(const ObjectInfo& object);
  /// Sorts, drops keys that a server listed more than once, and writes the names short.
  /// REQUIRES: called once, as the last call
  Result<ObjectIndex> finish();
  /// How many were dropped.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::string_view name(const ObjectEntry& entry) const;
  Result<void> append_text(std::string_view text);

  MappedArray<ObjectEntry> entries_;
  MappedArray<char> names_;  // u16 length, key, then a pin in full
  std::uint64_t dropped_ = 0;
};

}  // namespace headrace
