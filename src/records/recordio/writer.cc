// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/writer.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/image_record.h"

namespace headrace::recordio {
namespace {

constexpr std::array<std::string_view, 3> kSuffixes = {".rec", ".idx", ".lst"};

/// A tab or line end in a name would make another line of it. The list is for people and other
/// programs; our own reader takes nothing from it.
std::string list_name(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == '\t' || c == '\n' || c == '\r') c = '?';
  return text;
}

class Writer final : public ShardWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    writer->stem_ = numbered_stem(place.key, shard, shards);
    HEADRACE_TRY(writer->rec_, place.store.create(writer->stem_ + ".rec", place.stop));
    HEADRACE_TRY(writer->idx_, place.store.create(writer->stem_ + ".idx", place.stop));
    HEADRACE_TRY(writer->lst_, place.store.create(writer->stem_ + ".lst", place.stop));
    return writer;
  }

  Result<void> add(const OutSample& sample) override {
    idx_text_ += fmt::format("{}\t{}\n", sample.id, offset_);
    const std::size_t before = frames_.size();
    lst_text_ += fmt::format("{}\t", sample.id);
    for (const float label : sample.labels) lst_text_ += fmt::format("{}\t", label);
    lst_text_ += list_name(sample.name) + '\n';
    HEADRACE_TRY(append_frame(image_header(sample.labels, sample.id), sample.payload, frames_));
    offset_ += frames_.size() - before;
    ++samples_;
    if (frames_.size() >= kFlushBytes) HEADRACE_TRY(flush(*rec_, frames_));
    if (idx_text_.size() >= kFlushBytes) HEADRACE_TRY(flush(*idx_, idx_text_));
    if (lst_text_.size() >= kFlushBytes) HEADRACE_TRY(flush(*lst_, lst_text_));
    return {};
  }

  Result<WrittenShard> finish() override {
    HEADRACE_TRY(flush(*rec_, frames_));
    HEADRACE_TRY(flush(*idx_, idx_text_));
    HEADRACE_TRY(flush(*lst_, lst_text_));
    // The records first: a file without its index is scanned, an index without its file is nothing.
    HEADRACE_TRY(rec_->finish());
    HEADRACE_TRY(idx_->finish());
    HEADRACE_TRY(lst_->finish());
    WrittenShard written{.samples = samples_, .bytes = offset_, .keys = {}, .summary = {}};
    for (const auto suffix : kSuffixes) written.keys.push_back(stem_ + std::string(suffix));
    return written;
  }

 private:
  template <class Pending>
  static Result<void> flush(ObjectWriter& object, Pending& pending) {
    HEADRACE_TRY(object.append(std::as_bytes(std::span(pending))));
    pending.clear();
    return {};
  }

  std::string stem_;
  std::unique_ptr<ObjectWriter> rec_;
  std::unique_ptr<ObjectWriter> idx_;
  std::unique_ptr<ObjectWriter> lst_;
  std::vector<std::byte> frames_;  ///< not yet handed over
  std::string idx_text_;
  std::string lst_text_;
  std::uint64_t offset_ = 0;  ///< of the next record
  std::uint64_t samples_ = 0;
};

bool owns(std::string_view object, std::string_view key) {
  return is_numbered(object, key, kSuffixes);
}

}  // namespace

const WriterKind& writer_kind() {
  constexpr std::uint64_t kOverhead = 36;  // magic and length, header, padding; one label
  static const WriterKind kKind{
      .overhead = kOverhead, .compressions = {}, .open = Writer::open, .owns = owns};
  return kKind;
}

}  // namespace headrace::recordio
