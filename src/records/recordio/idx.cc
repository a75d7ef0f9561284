// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <utility>

#include "headrace/base/parse_number.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/lines.h"
#include "headrace/records/recordio/frame.h"

namespace headrace::recordio {
namespace {

constexpr std::size_t kChecks = 64;

/// The offset of one line, or nothing if it has none.
std::optional<std::uint64_t> offset_of(std::string_view line) {
  const auto tab = line.rfind('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  line.remove_prefix(tab + 1);
  while (line.ends_with(' ')) line.remove_suffix(1);
  return parse_number<std::uint64_t>(line);
}

/// Sorted, without repeats; or why there are none.
struct Offsets {
  MappedArray<std::uint64_t> array;
  std::size_t count = 0;
  std::string why_not;

  std::span<const std::uint64_t> span() const { return array.span().first(count); }
};

Result<Offsets> read_offsets(ByteSource& source) {
  Offsets offsets;
  HEADRACE_TRY(offsets.array, MappedArray<std::uint64_t>::make());
  LineReader lines(source);
  while (true) {
    HEADRACE_TRY(const auto line, lines.next());
    if (!line) break;
    if (line->empty()) continue;
    const auto offset = offset_of(*line);
    if (!offset) {
      offsets.why_not = fmt::format("line {} has no offset", lines.number());
      return offsets;
    }
    HEADRACE_TRY(offsets.array.append(*offset));
  }
  const auto all = offsets.array.span();
  if (!std::ranges::is_sorted(all)) std::ranges::sort(all);
  offsets.count = static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
  return offsets;
}

/// Why the offsets cannot be those of records that fill a file of `size` bytes; empty if they can.
std::string shape_problem(std::span<const std::uint64_t> offsets, std::uint64_t size) {
  if (offsets.empty()) return size == 0 ? "" : "it is empty";
  if (offsets[0] != 0) return fmt::format("the first offset is {}", offsets[0]);
  if (size < kHeaderBytes || offsets.back() > size - kHeaderBytes)
    return fmt::format("offset {} in a file of {} bytes", offsets.back(), size);
  const auto odd = std::ranges::find_if(offsets, [](std::uint64_t at) { return at % 4 != 0; });
  if (odd != offsets.end()) return fmt::format("offset {} is no multiple of 4", *odd);
  return "";
}

class Spots {
 public:
  Spots(std::span<const std::uint64_t> offsets, std::uint64_t size)
      : offsets_(offsets), size_(size) {}

  std::uint64_t room(std::size_t i) const {
    return (i + 1 < offsets_.size() ? offsets_[i + 1] : size_) - offsets_[i];
  }

  /// A missing record leaves one of the largest rooms; other damage is anywhere.
  std::vector<std::size_t> choose() const {
    std::vector<std::size_t> chosen;
    const std::size_t count = offsets_.size();
    if (count <= kChecks) {
      for (std::size_t i = 0; i < count; ++i) chosen.push_back(i);
      return chosen;
    }
    constexpr std::size_t kSpread = kChecks / 2;
    for (std::size_t i = 0; i < kSpread; ++i) chosen.push_back(i * (count - 1) / (kSpread - 1));
    std::vector<std::size_t> largest;  // a heap with the smallest of the largest on top
    const auto larger = [this](std::size_t a, std::size_t b) { return room(a) > room(b); };
    for (std::size_t i = 0; i < count; ++i) {
      if (largest.size() == kSpread && room(i) <= room(largest.front())) continue;
      if (largest.size() == kSpread) {
        std::ranges::pop_heap(largest, larger);
        largest.pop_back();
      }
      largest.push_back(i);
      std::ranges::push_heap(largest, larger);
    }
    chosen.insert(chosen.end(), largest.begin(), largest.end());
    return chosen;
  }

  /// Empty if the header at `i` fits its room.
  std::string problem(std::size_t i, ByteSpan bytes) const {
    std::uint32_t words[2];
    std::memcpy(words, bytes.data(), sizeof words);
    const PartHeader header(words[1]);
    if (words[0] != kMagic || !header.begins())
      return fmt::format("no record begins at offset {}", offsets_[i]);
    const std::uint64_t length = kHeaderBytes + padded(header.length);
    const bool unpadded = i + 1 == offsets_.size() && kHeaderBytes + header.length == room(i);
    if (header.ends() ? length != room(i) && !unpadded : length >= room(i)) {
      return fmt::format("the record at offset {} has {} bytes, the index leaves {}", offsets_[i],
                         length, room(i));
    }
    return "";
  }

 private:
  const std::span<const std::uint64_t> offsets_;
  const std::uint64_t size_;
};

Result<std::string> content_problem(Store& store, const ObjectInfo& rec, const Spots& spots,
                                    std::span<const std::uint64_t> offsets,
                                    const std::stop_token& stop) {
  const auto chosen = spots.choose();
  std::vector<std::future<Result<ReadResult>>> answers;
  for (const std::size_t i : chosen) {
    auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
    answers.push_back(promise->get_future());
    store.read({.key = rec.key, .range = {offsets[i], kHeaderBytes}, .pin = rec.pin, .stop = stop},
               [promise](Result<ReadResult> result) { promise->set_value(std::move(result)); });
  }
  std::string problem;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    HEADRACE_TRY(const auto read, answers[i].get());
    if (problem.empty()) problem = spots.problem(chosen[i], read.bytes.span());
  }
  return problem;
}

}  // namespace

std::string idx_key(const std::string& rec_key) {
  constexpr std::string_view kSuffix = ".rec";
  return (rec_key.ends_with(kSuffix) ? rec_key.substr(0, rec_key.size() - kSuffix.size())
                                     : rec_key) +
         ".idx";
}

Result<FoundIndex> read_idx(Store& store, const ObjectInfo& rec, const std::stop_token& stop) {
  const auto idx = store.head(idx_key(rec.key), stop);
  if (!idx) {
    // Without the right to list, S3 says 403 for what is not there.
    if (idx.error().code() == Code::not_found || idx.error().code() == Code::denied)
      return FoundIndex{};
    return idx.error();
  }
  // Small pieces: an index of a million records must cost no more memory than one of a thousand.
  const auto source = make_store_source(store, *idx, {.piece_bytes = 1U << 20U}, stop);
  HEADRACE_TRY(auto offsets, read_offsets(*source));
  FoundIndex answer{.frames = std::nullopt, .why_not = std::move(offsets.why_not)};
  if (answer.why_not.empty()) answer.why_not = shape_problem(offsets.span(), rec.size);
  const Spots spots(offsets.span(), rec.size);
  if (answer.why_not.empty()) {
    HEADRACE_TRY(answer.why_not, content_problem(store, rec, spots, offsets.span(), stop));
  }
  if (!answer.why_not.empty()) return answer;
  HEADRACE_TRY(auto frames, ShardFrames::make());
  for (std::size_t i = 0; i < offsets.count; ++i) {
    const std::uint64_t at = offsets.span()[i];
    HEADRACE_TRY(frames.add(at, at + spots.room(i)));
  }
  frames.source = "idx";
  answer.frames = std::move(frames);
  return answer;
}

}  // namespace headrace::recordio
