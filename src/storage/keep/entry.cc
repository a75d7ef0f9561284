// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/entry.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "headrace/base/random.h"

namespace headrace::keep {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they lie");

constexpr std::array<char, 8> kMagic = {'H', 'D', 'R', 'K', 'E', 'E', 'P', '1'};
constexpr std::size_t kLongestName = 4096;  // of a key; longer ones are cut, they only inform

struct HeaderBytes {
  std::array<char, 8> magic;
  std::uint64_t check;
  std::uint32_t version;
  std::uint32_t bytes;
  std::uint64_t sequence;
  std::uint64_t capacity;
  std::uint64_t salt;
  std::uint32_t store_length;
  std::uint32_t zero;
};
static_assert(sizeof(HeaderBytes) == 56);

struct EntryBytes {
  std::uint64_t check;
  std::uint32_t bytes;
  std::uint16_t kind;
  std::uint16_t name_length;
  Hash128 object;
  Hash128 payload;
  std::uint64_t place;
  std::uint64_t offset;
  std::uint32_t length;
  std::uint32_t data_offset;
};
static_assert(sizeof(EntryBytes) == 72);

constexpr std::size_t round_up(std::size_t n) { return (n + 7) / 8 * 8; }

std::uint64_t check_of(ByteSpan bytes, std::uint64_t salt, std::uint64_t place) {
  return hash_bytes(bytes).low ^ mix_key(salt, place);
}

template <class T>
T load(ByteSpan bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Names are made for every read: by hand, which is a tenth of what formatting takes.
template <class Number>
void add_number(std::string& text, Number number) {
  std::array<char, 24> digits;  // NOLINT(*-member-init): written before it is read
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

void add(std::string& text, std::string_view field) {
  add_number(text, field.size());
  text += ':';
  text += field;
}

}  // namespace

Hash128 object_id(std::string_view store, std::string_view key, const Pin& pin) {
  std::string text;
  text.reserve(store.size() + key.size() + pin.etag.size() + pin.version.size() + 96);
  text = 'o';
  add(text, store);
  add(text, key);
  if (!pin.etag.empty()) {
    text += 'e';
    add(text, pin.etag);
  } else if (!pin.version.empty()) {
    text += 'v';
    add(text, pin.version);
  } else {
    text += 'm';
    add_number(text, pin.modified_ns);
    text += ':';
  }
  add_number(text, pin.size);
  return hash_bytes(as_byte_span(text));
}

std::uint64_t place_id(std::string_view store, std::string_view key) {
  std::string text = "p";
  add(text, store);
  add(text, key);
  return hash_bytes(as_byte_span(text)).low;
}

Hash128 side_id(const SideKey& key) {
  const Hash128 object = object_id(key.store, key.object, key.pin);
  std::string text = "s" + object.to_hex();
  add(text, key.kind);
  text += fmt::format("{}:{}", key.version, key.offset);
  return hash_bytes(as_byte_span(text));
}

std::vector<std::byte> encode(const SegmentHeader& header) {
  const std::string_view store = std::string_view(header.store).substr(0, kLongestName);
  std::vector<std::byte> bytes(round_up(sizeof(HeaderBytes) + store.size()));
  HeaderBytes fixed{.magic = kMagic,
                    .check = 0,
                    .version = kVersion,
                    .bytes = static_cast<std::uint32_t>(bytes.size()),
                    .sequence = header.sequence,
                    .capacity = header.capacity,
                    .salt = header.salt,
                    .store_length = static_cast<std::uint32_t>(store.size()),
                    .zero = 0};
  if (!store.empty()) std::memcpy(bytes.data() + sizeof fixed, store.data(), store.size());
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  fixed.check = check_of(ByteSpan(bytes).subspan(16), header.salt, 0);
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  return bytes;
}

std::optional<SegmentHeader> parse_header(ByteSpan bytes) {
  if (bytes.size() < sizeof(HeaderBytes)) return std::nullopt;
  const auto fixed = load<HeaderBytes>(bytes);
  if (fixed.magic != kMagic || fixed.version != kVersion) return std::nullopt;
  if (fixed.store_length > kLongestName ||
      fixed.bytes != round_up(sizeof fixed + fixed.store_length) || fixed.bytes > bytes.size())
    return std::nullopt;
  if (fixed.check != check_of(bytes.subspan(16, fixed.bytes - 16U), fixed.salt, 0))
    return std::nullopt;
  return SegmentHeader{
      .salt = fixed.salt,
      .sequence = fixed.sequence,
      .capacity = fixed.capacity,
      .store = std::string(as_text(bytes.subspan(sizeof fixed, fixed.store_length))),
      .bytes = fixed.bytes};
}

std::size_t entry_bytes(std::size_t name_length) {
  return round_up(sizeof(EntryBytes) + std::min(name_length, kLongestName));
}

void append_entry(const Entry& entry, std::uint64_t salt, std::uint64_t log_offset,
                  std::vector<std::byte>& log) {
  const std::string_view name = entry.name.substr(0, kLongestName);
  const std::size_t start = log.size();
  log.resize(start + entry_bytes(name.size()));
  std::byte* into = log.data() + start;
  EntryBytes fixed{.check = 0,
                   .bytes = static_cast<std::uint32_t>(log.size() - start),
                   .kind = static_cast<std::uint16_t>(entry.kind),
                   .name_length = static_cast<std::uint16_t>(name.size()),
                   .object = entry.object,
                   .payload = entry.payload,
                   .place = entry.place,
                   .offset = entry.offset,
                   .length = entry.length,
                   .data_offset = entry.data_offset};
  if (!name.empty()) std::memcpy(into + sizeof fixed, name.data(), name.size());
  std::memcpy(into, &fixed, sizeof fixed);
  fixed.check = check_of(ByteSpan(into, fixed.bytes).subspan(8), salt, log_offset + start);
  std::memcpy(into, &fixed, sizeof fixed);
}

std::optional<ParsedEntry> parse_entry(ByteSpan bytes, std::uint64_t salt,
                                       std::uint64_t log_offset) {
  if (bytes.size() < sizeof(EntryBytes)) return std::nullopt;
  const auto fixed = load<EntryBytes>(bytes);
  if (fixed.name_length > kLongestName || fixed.bytes != entry_bytes(fixed.name_length) ||
      fixed.bytes > bytes.size())
    return std::nullopt;
  if (fixed.length == 0 || fixed.length > kLongestPiece) return std::nullopt;
  if (fixed.check != check_of(bytes.subspan(8, fixed.bytes - 8U), salt, log_offset))
    return std::nullopt;
  const Entry entry{.kind = static_cast<EntryKind>(fixed.kind),
                    .object = fixed.object,
                    .payload = fixed.payload,
                    .place = fixed.place,
                    .offset = fixed.offset,
                    .length = fixed.length,
                    .data_offset = fixed.data_offset,
                    .name = as_text(bytes.subspan(sizeof fixed, fixed.name_length))};
  return ParsedEntry{entry, fixed.bytes};
}

std::string SegmentName::stem() const {
  return fmt::format("s-{:012x}-{:016x}-{:x}", sequence, salt, capacity);
}

std::optional<SegmentName> SegmentName::parse(std::string_view stem) {
  SegmentName name;
  if (!stem.starts_with("s-")) return std::nullopt;
  stem.remove_prefix(2);
  for (std::uint64_t* field : {&name.sequence, &name.salt, &name.capacity}) {
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), *field, 16);
    if (error != std::errc()) return std::nullopt;
    stem.remove_prefix(static_cast<std::size_t>(end - stem.data()));
    if (field == &name.capacity) return stem.empty() ? std::optional(name) : std::nullopt;
    if (!stem.starts_with('-')) return std::nullopt;
    stem.remove_prefix(1);
  }
  return std::nullopt;
}

}  // namespace headrace::keep
