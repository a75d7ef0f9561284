// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/shard_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace headrace {
namespace {

// A damaged stretch may be the rest of a large file; its bytes are of no use, so few are read.
constexpr std::uint64_t kDamageBytes = 4096;
constexpr std::uint64_t kMaxFrame = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 63U;

template <class T>
void put(std::vector<std::byte>& out, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

class Taker {
 public:
  explicit Taker(ByteSpan bytes) : bytes_(bytes) {}

  template <class T>
  bool take(T& value) {
    return take_into(std::as_writable_bytes(std::span(&value, 1)));
  }
  bool take(std::string& text, std::uint64_t length) {
    if (length > bytes_.size()) return false;
    text.resize(length);
    return take_into(std::as_writable_bytes(std::span(text)));
  }
  std::uint64_t left() const { return bytes_.size(); }

 private:
  bool take_into(std::span<std::byte> into) {
    if (into.size() > bytes_.size()) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes_.data(), into.size());
    bytes_ = bytes_.subspan(into.size());
    return true;
  }

  ByteSpan bytes_;
};

}  // namespace

Result<ShardFrames> ShardFrames::make() {
  ShardFrames frames;
  HEADRACE_TRY(frames.frames_, MappedArray<Frame>::make());
  return frames;
}

Result<void> ShardFrames::add(std::uint64_t begin, std::uint64_t end,
                              const std::optional<Hash128>& name) {
  if (end - begin > kMaxFrame) {
    return add(
        {.begin = begin, .end = end, .why = fmt::format("a record of {} bytes", end - begin)});
  }
  if (name) {
    const Named named = {.name = *name, .offset = begin};
    HEADRACE_TRY(add_names({&named, 1}));
  }
  return frames_.append(Frame{.offset = begin & (kMaxOffset - 1),
                              .damaged = 0,
                              .length = static_cast<std::uint32_t>(end - begin),
                              .shard = 0});
}

Result<void> ShardFrames::add(Damage damage) {
  const auto length = std::min(damage.end - damage.begin, kDamageBytes);
  HEADRACE_TRY(frames_.append(Frame{.offset = damage.begin & (kMaxOffset - 1),
                                    .damaged = 1,
                                    .length = static_cast<std::uint32_t>(length),
                                    .shard = 0}));
  if (damage_.size() < kMaxDamage) damage_.push_back(std::move(damage));
  return {};
}

Result<void> ShardFrames::add(const ShardFrames& other, std::uint64_t from) {
  const auto frames = other.frames();
  const auto first = std::ranges::lower_bound(
      frames, from, {}, [](const Frame& frame) { return std::uint64_t{frame.offset}; });
  HEADRACE_TRY(frames_.append(frames.subspan(static_cast<std::size_t>(first - frames.begin()))));
  for (const Damage& damage : other.damage_) {
    if (damage.begin >= from && damage_.size() < kMaxDamage) damage_.push_back(damage);
  }
  if (!other.names_) return {};
  const auto names = other.names_->span();
  const auto name = std::ranges::lower_bound(names, from, {}, &Named::offset);
  return add_names(names.subspan(static_cast<std::size_t>(name - names.begin())));
}

Result<void> ShardFrames::add_names(std::span<const Named> names) {
  if (!names_) {
    HEADRACE_TRY(names_, MappedArray<Named>::make());
  }
  return names_->append(names);
}

Result<void> ShardFrames::find_repeats() {
  if (!names_) return {};
  const auto names = names_->span();
  std::ranges::sort(names);
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i].name != names[i - 1].name) continue;
    const auto found =
        std::ranges::lower_bound(frames(), names[i].offset, {},
                                 [](const Frame& frame) { return std::uint64_t{frame.offset}; });
    repeats_.push_back(static_cast<std::uint64_t>(found - frames().begin()));
  }
  std::ranges::sort(repeats_);
  names_.reset();
  return {};
}

bool ShardFrames::begins_at(std::uint64_t offset) const {
  return std::ranges::binary_search(frames(), offset, {},
                                    [](const Frame& frame) { return std::uint64_t{frame.offset}; });
}

std::vector<std::byte> ShardFrames::to_bytes() const {
  std::vector<std::byte> out;
  out.reserve(16 + frames().size_bytes());
  put(out, std::uint64_t{frames_.size()});
  put(out, std::uint64_t{damage_.size()});
  put(out, std::uint64_t{repeats_.size()});
  const auto raw = std::as_bytes(frames());
  out.insert(out.end(), raw.begin(), raw.end());
  for (const Damage& damage : damage_) {
    put(out, damage.begin);
    put(out, damage.end);
    put(out, std::uint64_t{damage.why.size()});
    const auto why = as_byte_span(damage.why);
    out.insert(out.end(), why.begin(), why.end());
  }
  for (const std::uint64_t number : repeats_) put(out, number);
  return out;
}

Result<ShardFrames> ShardFrames::from_bytes(ByteSpan bytes) {
  const Error bad(Code::corrupt, "not an index");
  Taker taker(bytes);
  std::uint64_t count = 0;
  std::uint64_t damages = 0;
  std::uint64_t repeats = 0;
  if (!taker.take(count) || !taker.take(damages) || !taker.take(repeats) ||
      count > taker.left() / sizeof(Frame) || repeats > count)
    return bad;
  HEADRACE_TRY(auto frames, make());
  for (std::uint64_t i = 0; i < count; ++i) {
    Frame frame{};
    if (!taker.take(frame)) return bad;
    HEADRACE_TRY(frames.frames_.append(frame));
  }
  for (std::uint64_t i = 0; i < damages; ++i) {
    Damage damage;
    std::uint64_t length = 0;
    if (!taker.take(damage.begin) || !taker.take(damage.end) || !taker.take(length) ||
        !taker.take(damage.why, length))
      return bad;
    frames.damage_.push_back(std::move(damage));
  }
  for (std::uint64_t i = 0; i < repeats; ++i) {
    std::uint64_t number = 0;
    if (!taker.take(number) || number >= count) return bad;
    frames.repeats_.push_back(number);
  }
  if (taker.left() != 0) return bad;
  return frames;
}

Result<ShardIndex> ShardIndex::make() {
  ShardIndex index;
  HEADRACE_TRY(index.frames_, MappedArray<Frame>::make());
  return index;
}

Result<void> ShardIndex::add(const ObjectInfo& shard, const ShardFrames& frames) {
  const auto number = static_cast<std::uint32_t>(shards_.size());
  const std::uint64_t first = frames_.size();
  HEADRACE_TRY(frames_.append(frames.frames()));
  for (Frame& frame : frames_.span().subspan(first)) frame.shard = number;
  shards_.push_back({.object = shard,
                     .first = first,
                     .source = frames.source,
                     .damage = frames.damage(),
                     .repeats = frames.repeats()});
  return {};
}

bool ShardIndex::is_repeat(SampleId id) const {
  return std::ranges::binary_search(shards_[frame(id).shard].repeats, record(id));
}

Extent ShardIndex::locate(SampleId id) const {
  const Frame& found = frame(id);
  const ObjectInfo& object = shards_[found.shard].object;
  return {.key = object.key, .pin = object.pin, .range = {found.offset, found.length}};
}

std::uint64_t ShardIndex::record(SampleId id) const {
  return static_cast<std::uint64_t>(id) - shards_[frame(id).shard].first;
}

std::string ShardIndex::name(SampleId id) const {
  const Frame& found = frame(id);
  return fmt::format("{}#{} @ {}", shards_[found.shard].object.key, record(id),
                     std::uint64_t{found.offset});
}

Result<void> ShardIndex::check(SampleId id) const {
  const Frame& found = frame(id);
  if (found.damaged == 0) return {};
  for (const Damage& damage : shards_[found.shard].damage) {
    if (damage.begin == found.offset) {
      const auto bytes = damage.end - damage.begin;
      const auto looked_at =
          bytes > kDamageBytes ? fmt::format(", of which the first {} are looked at", kDamageBytes)
                               : std::string();
      return Error(Code::corrupt, fmt::format("{} bytes{}: {}", bytes, looked_at, damage.why))
          .at(name(id));
    }
  }
  return Error(Code::corrupt, "no record can be read here").at(name(id));
}

std::string ShardIndex::source() const {
  if (shards_.empty()) return "scan";
  for (const Shard& shard : shards_)
    if (shard.source != shards_[0].source) return "mixed";
  return shards_[0].source;
}

std::vector<PlacedDamage> ShardIndex::damage() const {
  std::vector<PlacedDamage> all;
  for (const Shard& shard : shards_)
    for (const Damage& damage : shard.damage)
      all.push_back({.key = shard.object.key, .damage = damage});
  return all;
}

Hash128 ShardIndex::fingerprint() const {
  Hash128 sum = hash_bytes(std::as_bytes(frames_.span()));
  for (const Shard& shard : shards_) {
    const Pin& pin = shard.object.pin;
    const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", shard.object.key, shard.first,
                                         shard.object.size, pin.etag, pin.version, pin.modified_ns);
    sum += hash_bytes(as_byte_span(text));
  }
  return sum;
}

}  // namespace headrace
