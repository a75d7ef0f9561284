// SPDX-License-Identifier: Apache-2.0
/// \file What a segment's log says: its header, then one entry for each piece of data. FORMAT.md.
///
/// Pure functions of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/digest.h"
#include "headrace/storage/side_store.h"
#include "headrace/storage/store.h"

namespace headrace::keep {

inline constexpr std::uint32_t kVersion = 1;
/// What is longer than twice this is kept as several pieces, each with its own hash, so that a
/// read of a part need not verify the whole.
inline constexpr std::uint64_t kPiece = std::uint64_t{128} << 10U;
inline constexpr std::uint64_t kLongestPiece = 2 * kPiece;

/// Names a version of an object: by store, key and pin (its ETag, else its version, else its
/// modification time; and its size).
Hash128 object_id(std::string_view store, std::string_view key, const Pin& pin);
/// Names the object whatever its version: what was kept of an older one is recognised by it.
std::uint64_t place_id(std::string_view store, std::string_view key);
/// The same as object_id for derived bytes; never equal to an object's.
Hash128 side_id(const SideKey& key);

struct SegmentHeader {
  std::uint64_t salt = 0;      ///< of this segment: an entry copied from another one is invalid
  std::uint64_t sequence = 0;  ///< greater than that of any segment its maker knew
  std::uint64_t capacity = 0;  ///< bytes of log and data together, at most
  std::string store;           ///< Store::describe() of what is kept in it
  std::uint32_t bytes = 0;     ///< of the header itself; the first entry follows
};

enum class EntryKind : std::uint16_t { object = 1, side = 2 };

struct Entry {
  EntryKind kind = EntryKind::object;
  Hash128 object;                 ///< object_id or side_id
  Hash128 payload;                ///< hash_bytes of the piece
  std::uint64_t place = 0;        ///< place_id; 0 for derived bytes
  std::uint64_t offset = 0;       ///< of the piece in its object
  std::uint32_t length = 0;       ///< 1 … kLongestPiece
  std::uint32_t data_offset = 0;  ///< in the segment's data file
  std::string_view name;  ///< borrowed; for people: the key, only in an object's first piece
};

std::vector<std::byte> encode(const SegmentHeader& header);
/// Nothing if it is not whole, or not of this version.
std::optional<SegmentHeader> parse_header(ByteSpan bytes);

/// Appends the entry's bytes to `log`, which begins at byte `log_offset` of the log file.
void append_entry(const Entry& entry, std::uint64_t salt, std::uint64_t log_offset,
                  std::vector<std::byte>& log);
struct ParsedEntry {
  Entry entry;
  std::size_t bytes = 0;  ///< that it took
};
/// Nothing if the bytes at the start are not a whole, valid entry (yet).
std::optional<ParsedEntry> parse_entry(ByteSpan bytes, std::uint64_t salt,
                                       std::uint64_t log_offset);
/// An upper bound for one entry with a name of this length.
std::size_t entry_bytes(std::size_t name_length);

/// "s-<sequence>-<salt>-<capacity>", all in hexadecimal; files add ".log", ".data", ".new".
struct SegmentName {
  std::uint64_t sequence = 0;
  std::uint64_t salt = 0;
  std::uint64_t capacity = 0;

  std::string stem() const;
  static std::optional<SegmentName> parse(std::string_view stem);
};

}  // namespace headrace::keep
