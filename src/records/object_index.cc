// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/object_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "headrace/records/front_names.h"

namespace headrace {
namespace {

constexpr std::uint64_t kMaxNameBytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{1} << 48U;
constexpr std::int64_t kNanos = 1'000'000'000;

/// How the pin is kept. Pins that fit no compact form stand in full behind the key.
enum class PinForm : std::uint8_t { hex_etag, modified, in_full };

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

/// Numbers and strings out of bytes that may be damaged: what is missing is zero or empty.
class Taker {
 public:
  explicit Taker(std::span<const char> from) : left_(from) {}

  template <class T>
  T number() {
    T value{};
    if (left_.size() >= sizeof value) {
      std::memcpy(&value, left_.data(), sizeof value);
      left_ = left_.subspan(sizeof value);
    } else {
      left_ = {};
    }
    return value;
  }
  std::string_view string() {
    const std::size_t size = std::min<std::size_t>(number<std::uint16_t>(), left_.size());
    const std::string_view text(left_.data(), size);
    left_ = left_.subspan(size);
    return text;
  }

 private:
  std::span<const char> left_;
};

/// What stands in full behind the key.
std::string long_pin(const Pin& pin) {
  std::string text;
  append_string(text, pin.etag);
  append_string(text, pin.version);
  append_number(text, pin.modified_ns);
  append_number(text, pin.size);
  return text;
}

/// What keeps a finished index alive.
struct Owned {
  MappedArray<ObjectEntry> entries;
  MappedArray<char> names;
};

}  // namespace

Result<ObjectIndexBuilder> ObjectIndexBuilder::make() {
  ObjectIndexBuilder index;
  HEADRACE_TRY(index.entries_, MappedArray<ObjectEntry>::make());
  HEADRACE_TRY(index.names_, MappedArray<char>::make());
  return index;
}

Result<void> ObjectIndexBuilder::append_text(std::string_view text) {
  return names_.append(std::span(text.data(), text.size()));
}

Result<void> ObjectIndexBuilder::add(const ObjectInfo& object) {
  constexpr std::size_t kMaxText = std::numeric_limits<std::uint16_t>::max();
  if (object.key.size() > kMaxText || object.pin.etag.size() > kMaxText ||
      object.pin.version.size() > kMaxText || object.size >= kMaxObjectBytes) {
    return Error(Code::invalid, "the key, its ETag or the object is too long to be indexed")
        .at(object.key.substr(0, 200));
  }
  if (names_.size() + 4 * kMaxText > kMaxNameBytes) {
    return Error(Code::exhausted, "the keys of this set are longer than 1 TiB together");
  }
  ObjectEntry entry{};
  entry.name_at = names_.size() & (kMaxNameBytes - 1);
  entry.archived = object.archived ? 1 : 0;
  entry.bytes = object.size & (kMaxObjectBytes - 1);
  std::string text;
  append_string(text, object.key);

  const Pin& pin = object.pin;
  const auto etag = hex_etag(pin.etag);
  const std::int64_t seconds = pin.modified_ns / kNanos;
  PinForm form = PinForm::in_full;
  if (etag && pin.version.empty() && seconds >= 0 &&
      seconds <= std::numeric_limits<std::uint32_t>::max() && pin.size == object.size) {
    // Last-Modified has whole seconds; a listing may say more, which no later answer repeats.
    form = PinForm::hex_etag;
    entry.seconds_high = (static_cast<std::uint64_t>(seconds) >> 16U) & 0xffffU;
    entry.seconds_low = static_cast<std::uint64_t>(seconds) & 0xffffU;
    entry.pin_high = etag->high;
    entry.pin_low = etag->low;
  } else if (pin.etag.empty() && pin.version.empty() && pin.size == object.size) {
    form = PinForm::modified;
    entry.pin_high = static_cast<std::uint64_t>(pin.modified_ns);
  } else {
    text += long_pin(pin);
  }
  entry.form = static_cast<std::uint8_t>(form) & 0x7fU;
  HEADRACE_TRY(append_text(text));
  return entries_.append(entry);
}

std::string_view ObjectIndexBuilder::name(const ObjectEntry& entry) const {
  return Taker(names_.span().subspan(entry.name_at)).string();
}

Result<ObjectIndex> ObjectIndexBuilder::finish() {
  auto entries = entries_.span();
  const auto less = [this](const ObjectEntry& a, const ObjectEntry& b) {
    return name(a) < name(b);
  };
  // One class listed by a server that sorts is in order already.
  if (!std::ranges::is_sorted(entries, less)) std::ranges::sort(entries, less);
  const auto same = [this](const ObjectEntry& a, const ObjectEntry& b) {
    return name(a) == name(b);
  };
  const auto end = std::unique(entries.begin(), entries.end(), same);
  dropped_ = static_cast<std::uint64_t>(entries.end() - end);
  entries = entries.first(entries.size() - dropped_);

  auto owned = std::make_shared<Owned>();
  HEADRACE_TRY(owned->names, MappedArray<char>::make());
  std::string_view before;
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ObjectEntry& entry = entries[i];
    const std::string_view key = name(entry);
    const bool alone = i % front_names::kBlock == 0;
    const auto differs = std::ranges::mismatch(before, key).in2;
    const std::size_t shared = alone ? 0 : static_cast<std::size_t>(differs - key.begin());
    text.clear();
    append_number(text, static_cast<std::uint16_t>(shared));
    append_string(text, key.substr(shared));
    if (static_cast<PinForm>(entry.form) == PinForm::in_full) {
      Taker behind(names_.span().subspan(entry.name_at));
      behind.string();
      Pin pin;
      pin.etag = behind.string();
      pin.version = behind.string();
      pin.modified_ns = behind.number<std::int64_t>();
      pin.size = behind.number<std::uint64_t>();
      text += long_pin(pin);
    }
    entry.name_at = owned->names.size() & (kMaxNameBytes - 1);
    HEADRACE_TRY(owned->names.append(std::span<const char>(text.data(), text.size())));
    before = key;
  }
  owned->entries = std::move(entries_);
  names_ = {};
  return ObjectIndex(entries, owned->names.span(), owned);
}

std::string ObjectIndex::key(std::uint64_t ordinal) const {
  std::string key;
  for (std::uint64_t i = ordinal - ordinal % front_names::kBlock; i <= ordinal; ++i)
    front_names::advance(key, front_names::name_at(names_, entries_[i].name_at));
  return key;
}

Pin ObjectIndex::pin(std::uint64_t ordinal) const { return pin_of(entries_[ordinal]); }

Pin ObjectIndex::pin_of(const ObjectEntry& entry) const {
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
      const auto own = front_names::name_at(names_, entry.name_at).own;
      if (own.data() == nullptr) break;
      const auto behind = static_cast<std::size_t>(own.data() + own.size() - names_.data());
      Taker taker(names_.subspan(behind));
      pin.etag = taker.string();
      pin.version = taker.string();
      pin.modified_ns = taker.number<std::int64_t>();
      pin.size = taker.number<std::uint64_t>();
      break;
    }
  }
  return pin;
}

Extent ObjectIndex::extent(std::uint64_t ordinal) const {
  return {.key = key(ordinal), .pin = pin(ordinal), .range = {0, bytes(ordinal)}};
}

ObjectInfo ObjectIndex::info(std::uint64_t ordinal) const {
  return {.key = key(ordinal),
          .size = bytes(ordinal),
          .pin = pin(ordinal),
          .archived = archived(ordinal)};
}

std::uint64_t ObjectIndex::lower_bound(std::string_view wanted) const {
  // Names at the heads of blocks stand alone; then through one block.
  std::uint64_t low = 0;
  std::uint64_t high = (size() + front_names::kBlock - 1) / front_names::kBlock;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto head = front_names::name_at(names_, entries_[middle * front_names::kBlock].name_at);
    if (head.own < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  std::uint64_t at = (low - 1) * front_names::kBlock;
  const std::uint64_t end = std::min(at + front_names::kBlock, size());
  for (std::string name; at < end; ++at) {
    front_names::advance(name, front_names::name_at(names_, entries_[at].name_at));
    if (name >= wanted) break;
  }
  return at;
}

std::optional<std::uint64_t> ObjectIndex::find(std::string_view wanted) const {
  const std::uint64_t at = lower_bound(wanted);
  if (at == size() || key(at) != wanted) return std::nullopt;
  return at;
}

Hash128 ObjectIndex::term(std::uint64_t ordinal) const { return term(ordinal, key(ordinal)); }

Hash128 ObjectIndex::term(std::uint64_t ordinal, std::string_view key) const {
  const Pin found = pin(ordinal);
  std::string text;
  append_number(text, ordinal);
  append_string(text, key);
  append_number(text, bytes(ordinal));
  append_string(text, found.etag);
  append_string(text, found.version);
  append_number(text, found.modified_ns);
  return hash_bytes(as_byte_span(text));
}

Hash128 ObjectIndex::fingerprint() const {
  Hash128 sum;
  std::string key;  // from each to the next: alone, each would begin at its block's head
  for (std::uint64_t ordinal = 0; ordinal < size(); ++ordinal) {
    if (ordinal % front_names::kBlock == 0) key.clear();
    front_names::advance(key, front_names::name_at(names_, entries_[ordinal].name_at));
    sum += term(ordinal, key);
  }
  return sum;
}

}  // namespace headrace
