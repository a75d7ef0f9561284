// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/cache.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/base/random.h"
#include "headrace/storage/block.h"

namespace headrace::keep {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kSmallestSegment = kMiB;
constexpr std::uint64_t kLargestSegment = std::uint64_t{1} << 30U;  // data offsets have 32 bits
/// A cache is this many segments: eviction goes by whole ones.
constexpr std::uint64_t kSegments = 64;
/// Files take whole blocks: two of them are partly empty in each segment.
constexpr std::uint64_t kBlocks = std::uint64_t{8} << 10U;
constexpr std::uint64_t kUsualEntry = 104;  // bytes in a log: only to guess how many there are
constexpr int kTries = 32;
constexpr std::uint32_t kSamples = 32;  ///< places remembered of a segment
constexpr std::uint32_t kReplaced = 3;  ///< of them replaced: then the segment is an old version's
constexpr Nanos kFullPause = std::chrono::seconds(1);

std::uint64_t fresh_salt(std::uint64_t serial, Clock& clock) {
  std::uint64_t salt = 0;
  if (::getrandom(&salt, sizeof salt, 0) == sizeof salt) return salt;
  return mix_key(static_cast<std::uint64_t>(clock.now().count()), serial);
}

std::optional<SegmentName> name_of(const std::string& file, std::string_view suffix) {
  if (!file.ends_with(suffix)) return std::nullopt;
  return SegmentName::parse(std::string_view(file).substr(0, file.size() - suffix.size()));
}

}  // namespace

Cache::Cache(std::unique_ptr<Disk> disk, CacheOptions options, Clock& clock)
    : disk_(std::move(disk)),
      options_(std::move(options)),
      clock_(clock),
      index_([this](std::uint32_t number) HEADRACE_THREAD(no_thread_safety_analysis) {
        return segments_[number] != nullptr;  // called with mutex_ held, from the index only
      }),
      segments_(1),
      replaced_(1),
      sampled_(1) {}

Result<void> Cache::load() {
  HEADRACE_TRY(refresh());
  HEADRACE_TRY(const Measured measured, measure());
  HEADRACE_TRY(const DiskSpace space, disk_->space());
  const std::uint64_t tenth = (space.available + measured.used - measured.promised) / 10;
  const MutexLock lock(mutex_);
  limit_ = options_.limit != 0 ? options_.limit : tenth * 9;
  left_free_ = options_.limit != 0 ? 0 : tenth;
  return {};
}

std::optional<Parts> Cache::find(const Hash128& object, std::uint64_t offset,
                                 std::uint64_t length) {
  const MutexLock lock(mutex_);
  return pieces_of(object, offset, length);
}

std::optional<Parts> Cache::pieces_of(const Hash128& object, std::uint64_t offset,
                                      std::uint64_t length) {
  Parts parts;
  const std::uint64_t end = offset + length;
  while (offset < end) {
    const Piece* piece = index_.find(object, offset);
    if (piece == nullptr) return std::nullopt;
    const std::uint64_t skip = offset - piece->offset;
    const std::uint64_t taken = std::min(piece->length - skip, end - offset);
    parts.push_back({segments_[piece->segment], *piece, skip, taken});
    offset += taken;
  }
  return parts;
}

std::optional<Parts> Cache::want(const Hash128& object, std::uint64_t offset,
                                 std::uint64_t length) {
  const MutexLock lock(mutex_);
  auto parts = pieces_of(object, offset, length);
  const std::pair read(object, offset);
  if (!pass_began_) {
    pass_began_ = read;
  } else if (*pass_began_ == read) {
    ++pass_;
  }
  if (!parts) return parts;
  for (const Part& part : *parts) {
    part.segment->note_read(pass_);
    if (!part.segment->held()) std::ignore = part.segment->hold(false).ok();  // wanted after all
  }
  return parts;
}

void Cache::note_miss(const Hash128& object, std::uint64_t place) {
  const MutexLock lock(mutex_);
  const auto [begin, end] = samples_.equal_range(place);
  for (auto at = begin; at != end; ++at)
    if (at->second.object != object.low) ++replaced_[at->second.segment];
}

/// Two whole passes without a read, or replaced objects and no read at all.
bool Cache::is_unwanted(std::uint32_t number) const {
  const MutexLock lock(mutex_);
  const auto& segment = segments_[number];
  if (!segment) return false;
  if (pass_ >= segment->last_pass() + 2) return true;
  return !segment->was_read() && replaced_[number] >= kReplaced;
}

Result<Bytes> Cache::read(const Parts& parts) {
  HEADRACE_TRY(auto bytes, read(parts, true));
  if (!bytes) return Error(Code::unavailable, "not read").at(disk_->describe());  // cannot be
  return *std::move(bytes);
}

Result<std::optional<Bytes>> Cache::read(const Parts& parts, bool wait) {
  std::uint64_t total = 0;
  for (const Part& part : parts) total += part.length;
  Buffer buffer = make_block(total);
  std::vector<std::byte> scratch;
  std::span<std::byte> rest = buffer.span();
  for (std::size_t i = 0; i < parts.size();) {
    // Pieces that lie side by side and are wanted whole are read at once, into their place.
    std::size_t next = i;
    std::uint64_t length = 0;
    const Piece& first = parts[i].piece;
    for (; next < parts.size(); ++next) {
      const Part& part = parts[next];
      if (part.segment != parts[i].segment || part.length != part.piece.length ||
          part.piece.data_offset != first.data_offset + length)
        break;
      length += part.length;
    }
    std::span<std::byte> into = rest.first(length);
    if (next == i) {  // wanted in part: verified as a whole elsewhere
      scratch.resize(first.length);
      into = scratch;
      next = i + 1;
    }
    auto got = parts[i].segment->read(first.data_offset, into, wait);
    if (got && !*got) return std::optional<Bytes>();
    if (!got) {
      // Damaged, gone, or a bad place of the disk: forgotten, and kept anew elsewhere.
      forget_damage(Parts(parts.begin() + static_cast<std::ptrdiff_t>(i),
                          parts.begin() + static_cast<std::ptrdiff_t>(next)),
                    got.error());
      return std::move(got).error().at(disk_->describe());
    }
    for (; i < next; ++i) {
      const Part& part = parts[i];
      const auto piece = into.first(part.piece.length);
      if (hash_bytes(piece).low != part.piece.check) {
        drop({part});
        const MutexLock lock(mutex_);
        ++damaged_;
        return Error(Code::corrupt, fmt::format("{} bytes at {} do not match their hash",
                                                part.piece.length, part.piece.data_offset))
            .at(fmt::format("{}/{}", disk_->describe(), data_name(part.segment->name())));
      }
      if (into.data() != rest.data())
        std::memcpy(rest.data(), piece.data() + part.skip, part.length);
      rest = rest.subspan(part.length);
      into = into.subspan(part.piece.length);
    }
  }
  return std::optional(std::move(buffer).freeze(total));
}

void Cache::drop(const Parts& parts) {
  const MutexLock lock(mutex_);
  for (const Part& part : parts) index_.drop(part.piece);
}

// --- what others do -----------------------------------------------------------------------------

Result<void> Cache::refresh() {
  const MutexLock learning(learning_);
  HEADRACE_TRY(const auto listed, disk_->list());
  return learn(listed);
}

Result<void> Cache::learn(const std::vector<DiskEntry>& listed) {
  std::set<std::string> there;
  std::vector<SegmentName> unknown;
  for (const DiskEntry& entry : listed) {
    const auto name = name_of(entry.name, ".log");
    if (!name) continue;
    there.insert(name->stem());
    if (!known_.contains(name->stem())) unknown.push_back(*name);
  }
  std::vector<std::string> gone;
  for (const auto& [stem, known] : known_)
    if (!there.contains(stem)) gone.push_back(stem);
  for (const auto& stem : gone) forget(stem);
  // Older ones first: of two copies of a piece the newer one is known in the end.
  std::ranges::sort(unknown, {}, &SegmentName::sequence);
  for (const auto& name : unknown) adopt(name);
  if (std::uint64_t ours = 0; !unknown.empty()) {
    for (const DiskEntry& entry : listed) {
      const auto name = name_of(entry.name, ".log");
      const auto known = name ? known_.find(name->stem()) : known_.end();
      const bool unread = known != known_.end() && known->second.number != 0 &&
                          known->second.segment->followed() < entry.bytes;
      if (unread) ours += entry.bytes - known->second.segment->followed();
    }
    const MutexLock lock(mutex_);
    HEADRACE_TRY(index_.reserve(ours / kUsualEntry));
  }
  for (const auto& [stem, known] : known_) HEADRACE_TRY(follow(known));
  return {};
}

Result<void> Cache::follow(const Known& known) {
  if (!known.segment || known.number == 0 || known.segment->finished()) return {};
  Result<void> inserted;
  HEADRACE_TRY(known.segment->follow([&](const Entry& entry) {
    if (inserted) inserted = insert(*known.segment, known.number, entry);
  }));
  return inserted;
}

void Cache::adopt(const SegmentName& name) {
  newest_ = std::max(newest_, name.sequence);
  Known known;
  auto opened = Segment::open(*disk_, name);
  if (!opened && opened.error().code() == Code::not_found) return;
  if (opened && is_ours(**opened)) {
    // What this store may want is not evicted while it lives.
    const auto held = (*opened)->hold();
    if (held && *held) {
      known.segment = *std::move(opened);
      const MutexLock lock(mutex_);
      known.number = static_cast<std::uint32_t>(segments_.size());
      known.segment->set_last_pass(pass_);
      segments_.push_back(known.segment);
      replaced_.push_back(0);
      sampled_.push_back(0);
    }
  } else if (opened) {
    known.segment = *std::move(opened);
  }
  known_.emplace(name.stem(), std::move(known));
}

void Cache::forget(const std::string& stem) {
  const auto found = known_.find(stem);
  const MutexLock lock(mutex_);
  if (const auto number = found->second.number; number != 0) {
    segments_[number] = nullptr;
    std::erase_if(samples_, [number](const auto& at) { return at.second.segment == number; });
  }
  known_.erase(found);
}

Result<void> Cache::insert(const Segment& segment, std::uint32_t number, const Entry& entry) {
  if (std::uint64_t{entry.data_offset} + entry.length > segment.header().capacity) return {};
  const MutexLock lock(mutex_);
  if (entry.kind == EntryKind::object) note_place(entry, number);
  return index_.insert(entry.object, {.check = entry.payload.low,
                                      .offset = entry.offset,
                                      .length = entry.length,
                                      .data_offset = entry.data_offset,
                                      .segment = number});
}

void Cache::note_place(const Entry& entry, std::uint32_t number) {
  if (sampled_[number] >= kSamples) return;
  const auto [begin, end] = samples_.equal_range(entry.place);
  for (auto at = begin; at != end; ++at)
    if (at->second.segment == number) return;
  samples_.emplace(entry.place, Sample{number, entry.object.low});
  ++sampled_[number];
}

// --- room ---------------------------------------------------------------------------------------

Result<Cache::Measured> Cache::measure() {
  const MutexLock learning(learning_);
  HEADRACE_TRY(const auto listed, disk_->list());
  HEADRACE_TRY(learn(listed));
  std::map<std::string, std::uint64_t> sizes;
  std::uint64_t total = 0;
  std::uint64_t there = 0;
  for (const DiskEntry& entry : listed) {
    there += entry.bytes;
    bool counted = false;
    for (const std::string_view suffix : {".log", ".data"}) {
      if (const auto name = name_of(entry.name, suffix)) {
        sizes[name->stem()] += entry.bytes;
        counted = true;
      }
    }
    if (!counted) total += entry.bytes;
  }
  for (auto& [stem, bytes] : sizes) {
    const auto known = known_.find(stem);
    if (known != known_.end() && known->second.segment) {
      const auto live = known->second.segment->is_live();
      if (!live || *live) bytes = std::max(bytes, known->second.segment->name().capacity);
    } else if (const auto name = SegmentName::parse(stem)) {
      // Of another version, or being made right now: as much as it may become.
      auto log = disk_->open(log_name(*name), OpenMode::read);
      if (log) {
        const auto live = (*log)->is_locked(LockByte::owner);
        if (!live || *live) bytes = std::max(bytes, name->capacity);
      }
    }
    total += bytes;
  }
  const MutexLock lock(mutex_);
  used_ = total;
  return Measured{.used = total, .promised = total - std::min(total, there)};
}

void Cache::end_segment() {
  uncommitted_.clear();
  writer_.reset();  // gives the owner's lock up: others may evict it one day
  written_ = nullptr;
}

Result<bool> Cache::make_segment(std::uint64_t need) {
  end_segment();
  if (clock_.now() < full_until_ && full_pass_ == pass()) return false;
  for (int tries = 0; tries < kTries; ++tries) {
    HEADRACE_TRY(const Measured measured, measure());
    HEADRACE_TRY(const DiskSpace space, disk_->space());
    const std::uint64_t spoken_for = measured.promised + left_free();
    const std::uint64_t room = std::min(limit() - std::min(limit(), measured.used),
                                        space.available - std::min(space.available, spoken_for));
    // Nearly full, segments get smaller, so that little room is lost in those of others.
    const std::uint64_t usual = std::clamp(limit() / kSegments, kSmallestSegment, kLargestSegment);
    const std::uint64_t wanted = std::min(usual, std::max(room / 8, kSmallestSegment));
    const std::uint64_t capacity = std::max(std::min(wanted, room), need + kBlocks);
    if (capacity > room) {
      HEADRACE_TRY(const bool evicted, evict_one());
      if (evicted) continue;
      full_until_ = clock_.now() + kFullPause;
      full_pass_ = pass();
      return false;
    }
    SegmentName name{.salt = fresh_salt(++serial_, clock_), .capacity = capacity};
    {
      const MutexLock learning(learning_);
      name.sequence = newest_ + 1;
    }
    HEADRACE_TRY(auto writer, SegmentWriter::create(*disk_, name, options_.store));
    // Whoever made one at the same time sees ours now, as we see theirs: never both go on.
    const auto after = measure();
    if (!after || after->used > limit()) {
      writer->undo();
      if (!after) return after.error();
      clock_.sleep_for(std::chrono::milliseconds(1 + (name.salt & 7U)), {});
      continue;
    }
    const MutexLock learning(learning_);
    const auto known = known_.find(name.stem());
    if (known == known_.end() || known->second.number == 0)
      return Error(Code::unavailable, "the segment just made is gone").at(name.stem());
    writer_ = std::move(writer);
    written_ = known->second.segment;
    written_->set_finished();  // what is written here is inserted here
    written_number_ = known->second.number;
    return true;
  }
  return false;
}

void Cache::tidy(const std::vector<DiskEntry>& listed) {
  for (const DiskEntry& entry : listed) std::ignore = tidy_up(*disk_, entry.name).ok();
}

Result<bool> Cache::evict_one() {
  HEADRACE_TRY(auto listed, disk_->list());
  tidy(listed);
  std::ranges::sort(listed, {}, &DiskEntry::modified_ns);
  const MutexLock learning(learning_);
  for (const DiskEntry& entry : listed) {
    const auto name = name_of(entry.name, ".log");
    if (!name) continue;
    const auto known = known_.find(name->stem());
    if (known == known_.end()) continue;
    if (const auto& segment = known->second.segment; segment && segment->held()) {
      if (!is_unwanted(known->second.number)) continue;
      HEADRACE_TRY(segment->release());
    }
    HEADRACE_TRY(const bool gone, evict_segment(*disk_, *name));
    if (!gone) continue;
    forget(name->stem());
    return true;
  }
  return false;
}

// --- writing ------------------------------------------------------------------------------------

Result<std::uint64_t> Cache::append(std::span<const Item> items) {
  std::uint64_t left_out = 0;
  for (const Item& item : items) {
    std::uint64_t at = 0;
    while (at < item.bytes.size()) {
      const std::uint64_t left = item.bytes.size() - at;
      const std::uint64_t length = left > kLongestPiece ? kPiece : left;
      auto stored = store_piece(item, at, length);
      if (!stored) {
        end_segment();  // what its files hold now is not known
        return std::move(stored).error();
      }
      if (!*stored) left_out += length;
      at += length;
    }
  }
  if (auto done = commit(); !done) {
    end_segment();
    return std::move(done).error();
  }
  return left_out;
}

Result<bool> Cache::store_piece(const Item& item, std::uint64_t at, std::uint64_t length) {
  {
    const MutexLock lock(mutex_);
    if (index_.holds(item.object, item.offset + at, static_cast<std::uint32_t>(length)))
      return true;
  }
  const bool first = item.offset + at == 0;
  const std::uint64_t need = length + entry_bytes(first ? item.name.size() : 0);
  if (!writer_ || writer_->room() < need + kBlocks) {
    HEADRACE_TRY(commit());
    HEADRACE_TRY(const bool made, make_segment(need + kBlocks));
    if (!made) return false;
  }
  const ByteSpan bytes = item.bytes.span().subspan(at, length);
  Entry entry{.kind = item.kind,
              .object = item.object,
              .payload = hash_bytes(bytes),
              .place = item.place,
              .offset = item.offset + at,
              .name = first ? std::string_view(item.name) : std::string_view()};
  HEADRACE_TRY(writer_->append(bytes, entry));
  uncommitted_.emplace_back(entry.object, Piece{.check = entry.payload.low,
                                                .offset = entry.offset,
                                                .length = entry.length,
                                                .data_offset = entry.data_offset,
                                                .segment = written_number_});
  return true;
}

Result<void> Cache::commit() {
  if (uncommitted_.empty()) return {};
  HEADRACE_TRY(writer_->commit());
  const MutexLock lock(mutex_);
  for (const auto& [object, piece] : uncommitted_) {
    HEADRACE_TRY(index_.insert(object, piece));
    stored_ += piece.length;
  }
  uncommitted_.clear();
  return {};
}

std::uint32_t Cache::pass() const {
  const MutexLock lock(mutex_);
  return pass_;
}
std::uint64_t Cache::limit() const {
  const MutexLock lock(mutex_);
  return limit_;
}
std::uint64_t Cache::left_free() const {
  const MutexLock lock(mutex_);
  return left_free_;
}
std::uint64_t Cache::used() const {
  const MutexLock lock(mutex_);
  return used_;
}
std::uint64_t Cache::entries() const {
  const MutexLock lock(mutex_);
  return index_.entries();
}
std::uint64_t Cache::damaged() const {
  const MutexLock lock(mutex_);
  return damaged_;
}
std::uint64_t Cache::stored() const {
  const MutexLock lock(mutex_);
  return stored_;
}

}  // namespace headrace::keep
