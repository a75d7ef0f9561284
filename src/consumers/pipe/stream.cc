// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "headrace/loader/fetcher.h"
#include "headrace/records/recordio/frame.h"

namespace headrace::pipe {
namespace {

constexpr std::uint64_t kPieceBytes = 4U << 20U;
constexpr std::array<std::byte, 8> kEmptyRecord{std::byte{0x0a}, std::byte{0x23}, std::byte{0xd7},
                                                std::byte{0xce}};
constexpr std::array<std::byte, 6> kBrokenTail{std::byte{0x0a}, std::byte{0x23}, std::byte{0xd7},
                                               std::byte{0xce}, std::byte{0xff}, std::byte{0xff}};

/// The objects that hold samples, whole, in canonical order, in pieces of a few megabytes.
class StoredStream final : public Stream {
 public:
  explicit StoredStream(const Dataset& dataset) : dataset_(dataset) {}

  std::optional<Piece> next() override {
    if (at_ == object_.pin.size && !next_object()) return std::nullopt;
    Piece piece{.extent = object_, .sample = sample_};
    piece.extent.range = {at_, std::min(kPieceBytes, object_.pin.size - at_)};
    at_ += piece.extent.range.length;
    return piece;
  }

  Result<void> encode(const Piece& /*piece*/, const Bytes& bytes,
                      std::vector<std::byte>& out) const override {
    out.assign(bytes.span().begin(), bytes.span().end());
    return {};
  }

  bool looks_whole_after(const Piece& last) const override {
    const std::uint64_t end = last.extent.range.offset + last.extent.range.length;
    if (end == last.extent.pin.size) return true;
    // Inside an object: only where a record ends there. Its records follow `last.sample`.
    auto low = static_cast<std::uint64_t>(last.sample), high = dataset_.size();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const Extent at = dataset_.locate(SampleId{middle});
      if (at.key == last.extent.key && at.range.offset < end) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == dataset_.size()) return false;
    const Extent at = dataset_.locate(SampleId{low});
    return at.key == last.extent.key && at.range.offset == end;
  }

  bool begins_object(const Piece& piece) const override { return piece.extent.range.offset == 0; }

 private:
  bool next_object() {
    while (next_ < dataset_.size()) {
      Extent found = dataset_.locate(SampleId{next_});
      const bool same = started_ && found.key == object_.key;
      sample_ = SampleId{next_++};
      if (same) continue;
      started_ = true;
      object_ = std::move(found);
      at_ = 0;
      if (object_.pin.size != 0) return true;
    }
    return false;
  }

  const Dataset& dataset_;
  Extent object_;
  SampleId sample_{};  ///< the first of the object
  std::uint64_t at_ = 0;
  std::uint64_t next_ = 0;
  bool started_ = false;
};

/// Every sample in the order of a loader with the same options.
class GlobalStream : public Stream {
 public:
  GlobalStream(const Dataset& dataset, Walk walk) : dataset_(dataset), walk_(std::move(walk)) {}

  std::optional<Piece> next() override {
    while (!step_ || item_ == step_->items.size()) {
      step_ = walk_.next();
      item_ = 0;
      if (!step_) return std::nullopt;
    }
    const SampleId sample{step_->items[item_++].slot.sample_id};
    return Piece{.extent = dataset_.locate(sample), .sample = sample};
  }
  bool looks_whole_after(const Piece& /*last*/) const override { return true; }
  bool begins_object(const Piece& /*piece*/) const override { return true; }

 protected:
  const Dataset& dataset() const { return dataset_; }

 private:
  const Dataset& dataset_;
  Walk walk_;
  std::unique_ptr<Work> step_;
  std::size_t item_ = 0;
};

/// The very frames of the .rec files. One that is damaged there would take the following ones
/// with it: an empty record stands in its place, and the reader's policy decides.
class FrameStream final : public GlobalStream {
 public:
  using GlobalStream::GlobalStream;

  Result<void> encode(const Piece& piece, const Bytes& bytes,
                      std::vector<std::byte>& out) const override {
    const bool good = recordio::unframe(bytes).ok() && dataset().parse(piece.sample, bytes).ok();
    const ByteSpan frame = good ? bytes.span() : empty_record();
    out.assign(frame.begin(), frame.end());
    out.resize(recordio::padded(out.size()));  // the last record of a file may lack its padding
    return {};
  }
};

/// A record with the picture, and one with its labels as decimal text, separated by tabs.
class PairStream final : public GlobalStream {
 public:
  using GlobalStream::GlobalStream;

  Result<void> encode(const Piece& piece, const Bytes& bytes,
                      std::vector<std::byte>& out) const override {
    out.clear();
    auto sample = dataset().parse(piece.sample, bytes);
    std::string labels;
    if (sample) {
      for (const float label : sample->labels) {
        labels += fmt::format("{}{}", labels.empty() ? "" : "\t", label);
      }
    }
    const ByteSpan picture = sample ? sample->payload.span() : ByteSpan();
    HEADRACE_TRY(recordio::append_frame({}, picture, out).at(dataset().name(piece.sample)));
    return recordio::append_frame({}, as_byte_span(labels), out);
  }
};

}  // namespace

std::string_view to_string(StreamOrder order) {
  return order == StreamOrder::stored ? "stored" : "global";
}

Result<StreamOrder> parse_stream_order(std::string_view text) {
  if (text == "stored") return StreamOrder::stored;
  if (text == "global") return StreamOrder::global;
  return Error(Code::invalid, fmt::format("unknown order '{}'", text), "known: stored, global");
}

Result<std::unique_ptr<Stream>> make_stream(const Dataset& dataset, const WriterOptions& options,
                                            std::uint64_t epoch) {
  if (options.order == StreamOrder::stored) {
    return std::unique_ptr<Stream>(std::make_unique<StoredStream>(dataset));
  }
  const bool records = dataset.format() == "recordio";
  if (!records && !options.pairs) {
    return Error(Code::invalid,
                 fmt::format("a stream of pictures carries no labels, and this set ({}) has no "
                             "records",
                             dataset.format()),
                 "pack it (headrace pack SRC --format recordio --out DEST), or give --pairs to "
                 "write (picture, label) record pairs");
  }
  PlanOptions with_size = options.plan;
  with_size.samples = dataset.size();
  HEADRACE_TRY(const Plan plan, Plan::make(with_size));
  std::uint64_t step = 0;
  if (epoch == options.first_epoch) {
    HEADRACE_TRY(step, plan.step_at(options.first_position));
  }
  if (options.shuffle.scheme == Shuffle::Scheme::balanced) {
    return Error(Code::invalid, "a pipe writes each sample once: it cannot draw by class",
                 "use shuffle global, or another mode");
  }
  HEADRACE_TRY(const auto shuffle, with_step(options.shuffle, plan.global_batch()));
  const Walk walk(plan, {.seed = options.seed,
                         .shuffle = shuffle,
                         .first_epoch = epoch,
                         .first_step = step,
                         .end_epoch = epoch + 1});
  if (records) return std::unique_ptr<Stream>(std::make_unique<FrameStream>(dataset, walk));
  return std::unique_ptr<Stream>(std::make_unique<PairStream>(dataset, walk));
}

ByteSpan broken_tail() { return kBrokenTail; }
ByteSpan empty_record() { return kEmptyRecord; }

}  // namespace headrace::pipe
