// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/part_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "headrace/decode/part_bytes.h"

namespace headrace {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{4} << 10U;  // what a disk reads at least
/// What lies between is read too where it is less than a request costs: on EBS gp3, at 3,000
/// requests and 131 MB a second, that is 43 KB; on local NVMe next to nothing.
constexpr std::uint64_t kGap = 4 * kBlock;
/// With less to save, a whole record is worth more: all of it is verified again.
constexpr double kWorthIt = 15.0 / 16;
/// Longer headers are read again: thumbnails, profiles.
constexpr std::uint64_t kHeaders = kBlock;

constexpr std::uint64_t blocks_of(std::uint64_t bytes) { return (bytes + kBlock - 1) / kBlock; }

/// The start of a note, as it is kept (SEEK-SHELF.md); labels follow, then a checksum for each
/// block of the payload, then its headers.
struct NoteHead {
  std::uint64_t hash_low = 0, hash_high = 0;  ///< of the payload
  std::uint64_t begin = 0, bytes = 0;         ///< of the payload, in the frame
  std::uint32_t width = 0, height = 0;
  std::uint32_t scan_begin = 0;
  std::uint8_t h = 0, v = 0, orientation = 0, zero = 0;
  std::uint32_t labels = 0;
  std::uint32_t headers = 0;  ///< bytes of them in the note: all, or none

  Hash128 hash() const { return {hash_high, hash_low}; }
  PictureOutline outline() const {
    return {{.width = width, .height = height, .h = h, .v = v, .scan_begin = scan_begin},
            orientation};
  }
  /// Of a note that takes so many bytes, about a frame of so many: one that another job kept.
  bool is_sound(std::uint64_t note_bytes, std::uint64_t frame_bytes) const {
    const auto between = [](std::uint64_t least, std::uint64_t value, std::uint64_t most) {
      return value >= least && value <= most;
    };
    return between(1, width, 65535) && between(1, height, 65535) && between(1, h, 2) &&
           between(1, v, 2) && between(1, orientation, 8) && between(1, bytes, frame_bytes) &&
           begin <= frame_bytes - bytes &&
           between(0, headers, std::min<std::uint64_t>(scan_begin, bytes)) &&
           note_bytes == sizeof(NoteHead) + std::uint64_t{labels} * sizeof(float) +
                             blocks_of(bytes) * sizeof(std::uint64_t) + headers;
  }
};
static_assert(std::has_unique_object_representations_v<NoteHead> && sizeof(NoteHead) == 56);

template <class T>
void append(std::vector<std::byte>& note, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  note.insert(note.end(), bytes.begin(), bytes.end());
}

template <class T>
T take(ByteSpan& note) {
  T value;
  std::memcpy(&value, note.data(), sizeof value);
  note = note.subspan(sizeof value);
  return value;
}

/// The runs as whole blocks, small gaps closed. What lies below `known` is not needed.
std::vector<jpeg::ByteRun> in_blocks(std::span<const jpeg::ByteRun> runs, std::uint64_t known,
                                     std::uint64_t bytes) {
  std::vector<jpeg::ByteRun> wide;
  for (const jpeg::ByteRun& run : runs) {
    if (run.end <= known) continue;
    const jpeg::ByteRun whole{std::max(run.begin, known) / kBlock * kBlock,
                              std::min(blocks_of(run.end) * kBlock, bytes)};
    if (!wide.empty() && whole.begin <= wide.back().end + kGap) {
      wide.back().end = std::max(wide.back().end, whole.end);
    } else {
      wide.push_back(whole);
    }
  }
  return wide;
}

}  // namespace

Result<void> check_partial_reads(const LoaderOptions& options) {
  if (!options.partial_reads || (options.decode && options.seek_bytes != 0)) return {};
  return Error(Code::invalid,
               fmt::format("--partial-reads needs {}, which this job does without",
                           options.decode ? "seek indexes" : "pixels"),
               fmt::format("leave out --partial-reads or {}",
                           options.decode ? "--no-seek-index" : "--no-decode"));
}

Result<std::unique_ptr<PartReads>> PartReads::make(const Dataset& dataset,
                                                   const LoaderOptions& options,
                                                   const SeekMemory& seeks) {
  HEADRACE_TRY(auto notes, SeekMemory::make(dataset.size(), options.seek_bytes));
  return std::unique_ptr<PartReads>(new PartReads(std::move(notes), dataset, options, seeks));
}

std::string PartReads::name(const Dataset& dataset, const LoaderOptions& options) {
  const std::string how = hash_bytes(as_byte_span(options.reading)).to_hex();
  return dataset.fingerprint().to_hex() + "-" + how;
}

void PartReads::note(SampleId id, const Bytes& frame, const Sample& sample, const Hash128& payload,
                     const std::optional<PictureOutline>& outline) {
  const auto number = static_cast<std::uint64_t>(id);
  if (!outline || seeks_.get(number).empty() || !notes_->get(number).empty()) return;
  const ByteSpan picture = sample.payload.span();
  // A record that was put together of several pieces lies nowhere as a whole.
  const bool inside = !picture.empty() && picture.data() >= frame.data() &&
                      picture.data() + picture.size() <= frame.data() + frame.size();
  if (!inside) return;
  const jpeg::Outline& jpeg = outline->jpeg;
  const NoteHead head{.hash_low = payload.low,
                      .hash_high = payload.high,
                      .begin = static_cast<std::uint64_t>(picture.data() - frame.data()),
                      .bytes = picture.size(),
                      .width = jpeg.width,
                      .height = jpeg.height,
                      .scan_begin = jpeg.scan_begin,
                      .h = static_cast<std::uint8_t>(jpeg.h),
                      .v = static_cast<std::uint8_t>(jpeg.v),
                      .orientation = static_cast<std::uint8_t>(outline->orientation),
                      .labels = static_cast<std::uint32_t>(sample.labels.size()),
                      .headers = jpeg.scan_begin <= kHeaders ? jpeg.scan_begin : 0};
  std::vector<std::byte> note;
  note.reserve(sizeof head + sample.labels.size() * sizeof(float) +
               blocks_of(head.bytes) * sizeof(std::uint64_t) + head.headers);
  append(note, std::span(&head, 1));
  append(note, std::span<const float>(sample.labels));
  for (std::uint64_t at = 0; at < head.bytes; at += kBlock) {
    const auto check = hash_bytes(picture.subspan(at, std::min(kBlock, head.bytes - at))).low;
    append(note, std::span(&check, 1));
  }
  append(note, picture.first(head.headers));
  notes_->put(number, note);
}

std::shared_ptr<const PartPlan> PartReads::plan(SampleId id, std::uint64_t epoch) const {
  const auto number = static_cast<std::uint64_t>(id);
  ByteSpan note = notes_->get(number);
  if (note.size() < sizeof(NoteHead)) return nullptr;
  const std::uint64_t note_bytes = note.size();
  const auto head = take<NoteHead>(note);
  if (!head.is_sound(note_bytes, dataset_.frame_bytes(id))) return nullptr;
  const SampleKey key{.seed = options_.seed, .epoch = epoch, .sample_id = number};
  const auto needed = bytes_needed(head.outline(), head.bytes, options_.transform, key,
                                   seeks_.get(number), head.hash());
  if (needed.empty()) return nullptr;
  auto plan = std::make_shared<PartPlan>();
  const auto runs = in_blocks(needed, head.headers, head.bytes);
  std::uint64_t total = 0;
  for (const jpeg::ByteRun& run : runs) total += run.end - run.begin;
  if (static_cast<double>(total) > kWorthIt * static_cast<double>(head.bytes)) return nullptr;
  plan->payload_begin = head.begin;
  plan->payload_bytes = head.bytes;
  plan->payload = head.hash();
  plan->labels.resize(head.labels);
  for (float& label : plan->labels) label = take<float>(note);
  WantedParts wanted;
  wanted.blocks.reserve(blocks_of(total));
  for (const jpeg::ByteRun& run : runs) {
    for (std::uint64_t at = run.begin; at < run.end; at += kBlock) {
      ByteSpan check = note.subspan(at / kBlock * sizeof(std::uint64_t));
      wanted.blocks.push_back({.offset = head.begin + at,
                               .length = std::min(kBlock, head.bytes - at),
                               .check = take<std::uint64_t>(check)});
    }
  }
  plan->there = runs;
  if (head.headers != 0 && runs.front().begin != 0) {  // else they are in the first block
    wanted.known = Bytes::copy_of(note.last(head.headers));
    wanted.known_at = head.begin;
    plan->there.insert(plan->there.begin(), {0, head.headers});
  }
  plan->wanted = std::make_shared<const WantedParts>(std::move(wanted));
  return plan;
}

}  // namespace headrace
