// SPDX-License-Identifier: Apache-2.0
/// \file Objects, sorted by key bytes, in memory that the kernel can take back.
///
/// 32 bytes an object and its key. Not thread-safe while it grows; any number of readers once
/// `finish` was called. Example: folder/folder.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

class ObjectIndex {
 public:
  static Result<ObjectIndex> make();

  Result<void> add(const ObjectInfo& object);
  /// Sorts, and drops keys that a server listed more than once.
  /// \return how many were dropped
  std::uint64_t finish();

  std::uint64_t size() const { return entries_.size() - dropped_; }
  /// Valid as long as the index.
  std::string_view key(std::uint64_t ordinal) const;
  std::uint64_t bytes(std::uint64_t ordinal) const;
  Pin pin(std::uint64_t ordinal) const;
  /// The whole object.
  Extent extent(std::uint64_t ordinal) const;
  std::optional<std::uint64_t> find(std::string_view key) const;
  /// First ordinal whose key is not less than `key`, or size().
  std::uint64_t lower_bound(std::string_view key) const;

  /// Of key, size and pin of one object, at its place.
  Hash128 term(std::uint64_t ordinal) const;
  /// Sum of all terms.
  Hash128 fingerprint() const;

 private:
  /// How the pin is kept. Pins that fit no compact form stand in full behind the key.
  enum class PinForm : std::uint8_t { hex_etag, modified, in_full };

  struct Entry {
    std::uint64_t name_at : 40;  ///< in names_: u16 length, key, then a pin in full
    std::uint64_t form : 8;
    std::uint64_t seconds_high : 16;  ///< hex_etag: seconds since 1970
    std::uint64_t bytes : 48;
    std::uint64_t seconds_low : 16;
    std::uint64_t pin_high;  ///< hex_etag: its first 16 digits; modified: nanoseconds since 1970
    std::uint64_t pin_low;   ///< hex_etag: its last 16 digits
  };
  static_assert(sizeof(Entry) == 32);

  std::string_view name(const Entry& entry) const;
  Pin pin_of(const Entry& entry) const;
  Result<void> append_text(std::string_view text);

  MappedArray<Entry> entries_;
  MappedArray<char> names_;
  std::uint64_t dropped_ = 0;
};

}  // namespace headrace
