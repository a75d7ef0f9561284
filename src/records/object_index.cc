// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/object_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace headrace {
namespace {

constexpr std::uint64_t kMaxNameBytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{1} << 48U;
constexpr std::int64_t kNanos = 1'000'000'000;

/// The 16 bytes of `"<32 lower-case hexadecimal digits>"`, the ETag of most objects.
std::optional<Hash128> hex_etag(std::string_view etag) {
  if (etag.size() != 34 || etag.front() != '"' || etag.back() != '"') return std::nullopt;
  const std::string_view digits = etag.substr(1, 32);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  return Hash128::from_hex(digits);
}

template <class T>
void append_number(std::string& text, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text.append(bytes, sizeof value);
}

void append_string(std::string& text, std::string_view value) {
  append_number(text, static_cast<std::uint16_t>(value.size()));
  text += value;
}

template <class T>
T take_number(const char*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

std::string_view take_string(const char*& at) {
  const auto size = take_number<std::uint16_t>(at);
  const std::string_view text(at, size);
  at += size;
  return text;
}

}  // namespace

Result<ObjectIndex> ObjectIndex::make() {
  ObjectIndex index;
  HEADRACE_TRY(index.entries_, MappedArray<Entry>::make());
  HEADRACE_TRY(index.names_, MappedArray<char>::make());
  return index;
}

Result<void> ObjectIndex::append_text(std::string_view text) {
  return names_.append(std::span(text.data(), text.size()));
}

Result<void> ObjectIndex::add(const ObjectInfo& object) {
  constexpr std::size_t kMaxText = std::numeric_limits<std::uint16_t>::max();
  if (object.key.size() > kMaxText || object.pin.etag.size() > kMaxText ||
      object.pin.version.size() > kMaxText || object.size >= kMaxObjectBytes) {
    return Error(Code::invalid, "the key, its ETag or the object is too long to be indexed")
        .at(object.key.substr(0, 200));
  }
  if (names_.size() + 4 * kMaxText > kMaxNameBytes) {
    return Error(Code::exhausted, "the keys of this set are longer than 1 TiB together");
  }
  Entry entry{};
  entry.name_at = names_.size() & (kMaxNameBytes - 1);
  entry.bytes = object.size & (kMaxObjectBytes - 1);
  std::string text;
  append_string(text, object.key);

  const Pin& pin = object.pin;
  const auto etag = hex_etag(pin.etag);
  const std::int64_t seconds = pin.modified_ns / kNanos;
  if (etag && pin.version.empty() && seconds >= 0 &&
      seconds <= std::numeric_limits<std::uint32_t>::max() && pin.size == object.size) {
    // Last-Modified has whole seconds; a listing may say more, which no later answer repeats.
    entry.form = static_cast<std::uint8_t>(PinForm::hex_etag);
    entry.seconds_high = (static_cast<std::uint64_t>(seconds) >> 16U) & 0xffffU;
    entry.seconds_low = static_cast<std::uint64_t>(seconds) & 0xffffU;
    entry.pin_high = etag->high;
    entry.pin_low = etag->low;
  } else if (pin.etag.empty() && pin.version.empty() && pin.size == object.size) {
    entry.form = static_cast<std::uint8_t>(PinForm::modified);
    entry.pin_high = static_cast<std::uint64_t>(pin.modified_ns);
  } else {
    entry.form = static_cast<std::uint8_t>(PinForm::in_full);
    append_string(text, pin.etag);
    append_string(text, pin.version);
    append_number(text, pin.modified_ns);
    append_number(text, pin.size);
  }
  HEADRACE_TRY(append_text(text));
  return entries_.append(entry);
}

std::uint64_t ObjectIndex::finish() {
  const auto entries = entries_.span();
  const auto less = [this](const Entry& a, const Entry& b) { return name(a) < name(b); };
  // One class listed by a server that sorts is in order already.
  if (!std::ranges::is_sorted(entries, less)) std::ranges::sort(entries, less);
  const auto same = [this](const Entry& a, const Entry& b) { return name(a) == name(b); };
  dropped_ =
      static_cast<std::uint64_t>(entries.end() - std::unique(entries.begin(), entries.end(), same));
  return dropped_;
}

std::string_view ObjectIndex::name(const Entry& entry) const {
  const char* at = &names_.span()[entry.name_at];
  return take_string(at);
}

std::string_view ObjectIndex::key(std::uint64_t ordinal) const { return name(entries_[ordinal]); }

std::uint64_t ObjectIndex::bytes(std::uint64_t ordinal) const { return entries_[ordinal].bytes; }

Pin ObjectIndex::pin(std::uint64_t ordinal) const { return pin_of(entries_[ordinal]); }

Pin ObjectIndex::pin_of(const Entry& entry) const {
  Pin pin{.size = entry.bytes};
  switch (static_cast<PinForm>(entry.form)) {
    case PinForm::hex_etag: {
      const std::uint64_t seconds =
          std::uint64_t{entry.seconds_high} << 16U | std::uint64_t{entry.seconds_low};
      pin.etag = fmt::format("\"{:016x}{:016x}\"", entry.pin_high, entry.pin_low);
      pin.modified_ns = static_cast<std::int64_t>(seconds) * kNanos;
      break;
    }
    case PinForm::modified:
      pin.modified_ns = static_cast<std::int64_t>(entry.pin_high);
      break;
    case PinForm::in_full: {
      const char* at = name(entry).end();
      pin.etag = take_string(at);
      pin.version = take_string(at);
      pin.modified_ns = take_number<std::int64_t>(at);
      pin.size = take_number<std::uint64_t>(at);
      break;
    }
  }
  return pin;
}

Extent ObjectIndex::extent(std::uint64_t ordinal) const {
  const Entry& entry = entries_[ordinal];
  return {.key = std::string(name(entry)), .pin = pin_of(entry), .range = {0, entry.bytes}};
}

std::uint64_t ObjectIndex::lower_bound(std::string_view wanted) const {
  const auto entries = entries_.span().first(size());
  const auto found = std::ranges::lower_bound(entries, wanted, {},
                                              [this](const Entry& entry) { return name(entry); });
  return static_cast<std::uint64_t>(found - entries.begin());
}

std::optional<std::uint64_t> ObjectIndex::find(std::string_view wanted) const {
  const std::uint64_t at = lower_bound(wanted);
  if (at == size() || key(at) != wanted) return std::nullopt;
  return at;
}

Hash128 ObjectIndex::term(std::uint64_t ordinal) const {
  const Pin found = pin(ordinal);
  std::string text;
  append_number(text, ordinal);
  append_string(text, key(ordinal));
  append_number(text, bytes(ordinal));
  append_string(text, found.etag);
  append_string(text, found.version);
  append_number(text, found.modified_ns);
  return hash_bytes(as_byte_span(text));
}

Hash128 ObjectIndex::fingerprint() const {
  Hash128 sum;
  for (std::uint64_t ordinal = 0; ordinal < size(); ++ordinal) sum += term(ordinal);
  return sum;
}

}  // namespace headrace
