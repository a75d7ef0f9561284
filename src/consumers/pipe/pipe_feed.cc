// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/pipe_feed.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/base/parse_number.h"
#include "headrace/consumers/pipe/frame_source.h"
#include "headrace/consumers/pipe/stream.h"
#include "headrace/records/recordio/frame.h"

namespace headrace::pipe {
namespace {

class PipeFeed final : public Feed {
 public:
  PipeFeed(const Dataset& dataset, FeedOptions options, std::stop_source stop,
           std::unique_ptr<StopEvent> event)
      : dataset_(dataset),
        options_(std::move(options)),
        stop_(std::move(stop)),
        event_(std::move(event)),
        thread_([this] { run(); }) {}
  PipeFeed(const PipeFeed&) = delete;
  PipeFeed& operator=(const PipeFeed&) = delete;
  ~PipeFeed() override {
    stop_.request_stop();
    thread_.join();
  }

  void fetch(const FeedRequest& request, FeedDone done) override {
    if (request.out_of_order || request.fresh) {
      return done(Error(Code::invalid, "a pipe cannot go back").at(dataset_.name(request.sample)));
    }
    {
      const MutexLock lock(mutex_);
      if (!ended_) {
        asked_.push_back({request, std::move(done)});
        came_.notify_one();
        return;
      }
    }
    done(Error(Code::cancelled, "stopped"));
  }

  Result<Sample> parse(SampleId sample, const Bytes& frame) const override {
    const auto empty = empty_record();
    if (std::ranges::equal(frame.span().first(std::min(frame.size(), empty.size())), empty)) {
      return Error(Code::corrupt, "its record is damaged where it is kept, and came empty");
    }
    if (!options_.pairs) return dataset_.parse(sample, frame);
    const std::size_t picture_end = first_frame_bytes(frame.span());
    HEADRACE_TRY(auto picture, recordio::unframe(frame.slice(0, picture_end)));
    HEADRACE_TRY(const auto text,
                 recordio::unframe(frame.slice(picture_end, frame.size() - picture_end)));
    HEADRACE_TRY(auto labels, parse_labels(text.text()));
    return Sample{.labels = std::move(labels), .payload = std::move(picture)};
  }

  bool random_access() const override { return false; }

 private:
  struct Asked {
    FeedRequest request;
    FeedDone done;
  };

  static Result<std::vector<float>> parse_labels(std::string_view text) {
    std::vector<float> labels;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find('\t'));
      const auto label = parse_number<float>(word);
      if (!label) return Error(Code::corrupt, fmt::format("'{}' is no label", word));
      labels.push_back(*label);
      text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return labels;
  }

  void run() {
    const std::stop_token stop = stop_.get_token();
    while (auto asked = take(stop)) {
      // A request's own stop ends the feed: in a stream nothing can be left out.
      const std::stop_callback forward(asked->request.stop, [this] { stop_.request_stop(); });
      if (!failure_) {
        auto frame = read(asked->request);
        if (frame) {
          asked->done(*std::move(frame));
          continue;
        }
        failure_ = std::move(frame).error();
      }
      asked->done(Error(*failure_));
    }
    fifo_.reset();
    std::deque<Asked> left;
    {
      const MutexLock lock(mutex_);
      ended_ = true;
      left.swap(asked_);
    }
    for (Asked& asked : left) asked.done(Error(Code::cancelled, "stopped"));
  }

  std::optional<Asked> take(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (asked_.empty()) {
      if (!lock.wait(came_, stop)) return std::nullopt;
    }
    if (stop.stop_requested()) return std::nullopt;
    Asked asked = std::move(asked_.front());
    asked_.pop_front();
    return asked;
  }

  Result<Bytes> read(const FeedRequest& request) {
    if (!fifo_ || epoch_ != request.epoch) {
      if (fifo_) HEADRACE_TRY(check_end());
      fifo_.reset();
      HEADRACE_TRY(auto opened, FifoReader::open(options_.dir, options_.channel, request.epoch,
                                                 options_.timeouts, *event_, options_.on_wait));
      fifo_.emplace(std::move(opened));
      epoch_ = request.epoch;
      records_ = 0;
    }
    std::vector<std::byte> frame;
    frame.reserve(dataset_.frame_bytes(request.sample) + 64);
    for (int part = 0; part < (options_.pairs ? 2 : 1); ++part) {
      auto got = read_frame(*fifo_, frame);
      if (got && *got) continue;
      if (!got && got.error().code() != Code::unavailable) return std::move(got).error();
      return too_short(got ? std::nullopt : std::optional<Error>(std::move(got).error()));
    }
    ++records_;
    HEADRACE_TRY(check_order(request, frame));
    const auto owner = std::make_shared<std::vector<std::byte>>(std::move(frame));
    return Bytes(owner, *owner);
  }

  Error too_short(std::optional<Error> cut_off) const {
    if (options_.why) {
      if (auto why = options_.why()) return *std::move(why);
    }
    if (cut_off) return *std::move(cut_off);
    return Error(Code::unavailable,
                 fmt::format("the stream ended after {} samples, more were to come", records_),
                 "look at the writer; batch, ranks, tail and seed must be the reader's")
        .at(fifo_->path());
  }

  /// A record of another length is another sample: the writer has another order.
  Result<void> check_order(const FeedRequest& request, ByteSpan frame) const {
    if (options_.pairs || frame.size() == empty_record().size()) return {};
    if (frame.size() == recordio::padded(dataset_.frame_bytes(request.sample))) return {};
    return Error(Code::invalid,
                 fmt::format("record {} has {} bytes, but {} has {}: the stream is not in this "
                             "job's order",
                             records_, frame.size(), dataset_.name(request.sample),
                             dataset_.frame_bytes(request.sample)),
                 "write it with the same seed, epoch, batch, ranks and tail")
        .at(fifo_->path());
  }

  /// The epoch's records have all come; what follows must be the end.
  Result<void> check_end() {
    std::vector<std::byte> frame;
    HEADRACE_TRY(const bool more, read_frame(*fifo_, frame));
    if (!more) return {};
    return Error(Code::invalid, fmt::format("the stream goes on after {} samples", records_),
                 "write it with the same batch, ranks and tail")
        .at(fifo_->path());
  }

  const Dataset& dataset_;
  const FeedOptions options_;
  std::stop_source stop_;
  const std::unique_ptr<StopEvent> event_;

  // The thread's.
  std::optional<FifoReader> fifo_;
  std::uint64_t epoch_ = 0;
  std::uint64_t records_ = 0;
  std::optional<Error> failure_;

  Mutex mutex_;
  Condition came_;
  std::deque<Asked> asked_ HEADRACE_GUARDED_BY(mutex_);
  bool ended_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Feed>> make_pipe_feed(const Dataset& dataset, const FeedOptions& options) {
  std::stop_source stop;
  HEADRACE_TRY(auto event, StopEvent::make(stop.get_token()));
  return std::unique_ptr<Feed>(
      std::make_unique<PipeFeed>(dataset, options, std::move(stop), std::move(event)));
}

}  // namespace headrace::pipe
