// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/read_call.h"

#include <fmt/format.h>

#include <cstring>

#include "headrace/base/mutex.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/s3/call.h"

namespace headrace::s3 {
namespace {

/// Where a read lies in its object.
struct Span {
  ByteRange range;
  bool whole = false;  // of the whole object, as far as known: no Range header
  std::optional<std::uint64_t> length() const {
    if (range.length == ByteRange::kToEnd) return std::nullopt;
    return range.length;
  }
};

Ask ask_for(const std::string& key, const std::string& place, const Span& span,
            const std::optional<Pin>& pin) {
  Ask ask{.method = http::Method::get, .key = key, .place = place};
  if (pin && !pin->etag.empty()) ask.headers.emplace_back("if-match", pin->etag);
  if (span.whole) {
    ask.headers.emplace_back("x-amz-checksum-mode", "ENABLED");
  } else {
    ask.headers.emplace_back("range", span.length()
                                          ? fmt::format("bytes={}-{}", span.range.offset,
                                                        span.range.offset + span.range.length - 1)
                                          : fmt::format("bytes={}-", span.range.offset));
  }
  return ask;
}

class ReadCall : public Call {
 public:
  ReadCall(Service& service, std::string key, std::string place, Span span, std::optional<Pin> pin)
      : Call(service, ask_for(key, place, span, pin)), span_(span), pin_(std::move(pin)) {}

 protected:
  /// Memory for `length` bytes: asked for once the length is known.
  virtual Result<std::span<std::byte>> room(std::uint64_t length) = 0;

  std::uint64_t filled() const { return filled_; }
  const Pin& found() const { return found_; }
  /// The object was empty, or ended where the range begins.
  bool nothing() const { return nothing_; }

 private:
  void restart() override {
    filled_ = 0;
    skipped_ = 0;
    compared_ = false;
    checksum_.reset();
    spill_.clear();
    if (!span_.length()) into_ = {};  // another attempt may meet another size
  }

  Result<void> take(Answer& answer, ByteSpan bytes) override {
    service().context().metrics->add(Metric::bytes_origin, bytes.size());
    HEADRACE_TRY(compare(answer));
    if (!span_.whole && answer.status == 200) bytes = skip(bytes);  // the Range was ignored
    if (span_.whole && answer.checksum_kind) {
      if (!checksum_) checksum_.emplace(*answer.checksum_kind);
      checksum_->add(bytes);
    }
    if (into_.empty()) {
      std::optional<std::uint64_t> length = span_.length();
      if (!length && answer.length)
        length = *answer.length - std::min(*answer.length, to_skip(answer));
      if (!length) {  // an answer in chunks, of no known length
        spill_ += as_text(bytes);
        return {};
      }
      HEADRACE_TRY(into_, room(*length));
    }
    if (bytes.size() > into_.size() - filled_) {
      if (answer.status == 206 || span_.whole)
        return Error(Code::unavailable, "the answer is longer than the range that was asked for");
      bytes = bytes.first(into_.size() - filled_);  // of a whole object, the rest is not ours
    }
    if (!bytes.empty()) std::memcpy(into_.data() + filled_, bytes.data(), bytes.size());
    filled_ += bytes.size();
    return {};
  }

  Result<void> check(Answer& answer) override {
    if (!spill_.empty()) {
      HEADRACE_TRY(into_, room(spill_.size()));
      std::memcpy(into_.data(), spill_.data(), spill_.size());
      filled_ = spill_.size();
    }
    if (answer.status == 206 && answer.range_begin && *answer.range_begin != span_.range.offset)
      return Error(Code::unavailable, "the server answered with another range than was asked for");
    HEADRACE_TRY(compare(answer));
    if (answer.status == 200 && !span_.whole && skipped_ < span_.range.offset) {
      HEADRACE_TRY(resolve(span_.range, skipped_));
    }
    if (const auto length = span_.length(); length && filled_ != *length) {
      if (!pin_ && total(answer)) HEADRACE_TRY(resolve(span_.range, *total(answer)));
      return Error(Code::unavailable,
                   fmt::format("the answer is short: {} bytes of {}", filled_, *length));
    }
    if (checksum_ && checksum_->value() != answer.checksum)
      return Error(Code::unavailable, "the bytes do not have the checksum that the server tells");
    if (!span_.length() && !pin_) {
      if (total(answer)) HEADRACE_TRY(resolve(span_.range, *total(answer)));
      if (!total(answer)) found_.size = span_.range.offset + filled_;  // only now is it known
    }
    return {};
  }

  /// A range of an object that turns out to be empty, or to end where the range begins.
  bool forgive(Answer& answer, const ErrorAnswer& /*error*/) override {
    if (answer.status != 416 || span_.length() || pin_) return false;
    nothing_ = answer.range_total && *answer.range_total == span_.range.offset;
    if (nothing_) found_ = answer.pin(*answer.range_total);
    return nothing_;
  }

  /// The ETag of the answer counts, since some servers ignore If-Match. Once an answer.
  Result<void> compare(const Answer& answer) {
    if (std::exchange(compared_, true)) return {};
    found_ = answer.pin(total(answer).value_or(pin_ ? pin_->size : filled_));
    if (found_.weak()) service().notice_weak_pin(asked().place);
    if (!pin_) return {};
    if (found_.modified_ns == 0) found_.modified_ns = pin_->modified_ns;
    if (!same_version(*pin_, found_)) return changed_error(*pin_, found_);
    return {};
  }

  static std::optional<std::uint64_t> total(const Answer& answer) {
    return answer.status == 206 ? answer.range_total : answer.length;
  }
  std::uint64_t to_skip(const Answer& answer) const {
    return !span_.whole && answer.status == 200 ? span_.range.offset : 0;
  }
  ByteSpan skip(ByteSpan bytes) {
    const auto skipped = std::min<std::uint64_t>(bytes.size(), span_.range.offset - skipped_);
    skipped_ += skipped;
    return bytes.subspan(skipped);
  }

  const Span span_;
  const std::optional<Pin> pin_;
  std::span<std::byte> into_;
  std::uint64_t filled_ = 0;
  std::uint64_t skipped_ = 0;
  std::string spill_;
  std::optional<BodyChecksum> checksum_;
  Pin found_;
  bool compared_ = false;
  bool nothing_ = false;
};

/// Into a buffer of its own.
class WholeRead final : public ReadCall {
 public:
  WholeRead(Service& service, std::string key, std::string place, Span span, std::optional<Pin> pin,
            ReadDone done)
      : ReadCall(service, std::move(key), std::move(place), span, std::move(pin)),
        done_(std::move(done)) {}

 private:
  Result<std::span<std::byte>> room(std::uint64_t length) override {
    HEADRACE_TRY(buffer_, allocate(length));
    return buffer_.span();
  }
  void finish(Result<Answer> answer) override {
    if (!answer) return done_(std::move(answer).error());
    const auto size = static_cast<std::size_t>(nothing() ? 0 : filled());
    done_(ReadResult{std::move(buffer_).freeze(size), found()});
  }

  Buffer buffer_;
  ReadDone done_;
};

/// What the parts of one large read share.
class Parts {
 public:
  Parts(Buffer buffer, std::size_t count, Pin pin, ReadDone done)
      : buffer_(std::move(buffer)), left_(count), pin_(std::move(pin)), done_(std::move(done)) {}

  std::span<std::byte> part(std::uint64_t offset, std::uint64_t length) {
    return buffer_.span().subspan(static_cast<std::size_t>(offset),
                                  static_cast<std::size_t>(length));
  }
  std::stop_token stop_token() const { return stop_.get_token(); }
  std::stop_source& stop() { return stop_; }

  void arrived(Result<Pin> part) {
    bool failed = false;
    {
      const MutexLock lock(mutex_);
      if (!part && !error_) {
        error_ = std::move(part).error();
        failed = true;
      }
      if (--left_ == 0) failed = false;
      if (left_ != 0 && !failed) return;
    }
    if (failed) {  // the others are not wanted any more; the last of them will say so
      stop_.request_stop();
      return;
    }
    std::optional<Error> error;
    {
      const MutexLock lock(mutex_);
      error = std::move(error_);
    }
    if (error) return done_(*std::move(error));
    const auto size = buffer_.size();
    done_(ReadResult{std::move(buffer_).freeze(size), pin_});
  }

 private:
  Buffer buffer_;
  Mutex mutex_;
  std::size_t left_ HEADRACE_GUARDED_BY(mutex_);
  std::optional<Error> error_ HEADRACE_GUARDED_BY(mutex_);  // the first
  const Pin pin_;
  const ReadDone done_;
  std::stop_source stop_;
};

class PartRead final : public ReadCall {
 public:
  PartRead(Service& service, std::string key, std::string place, Span span, const Pin& pin,
           std::span<std::byte> into, std::shared_ptr<Parts> parts)
      : ReadCall(service, std::move(key), std::move(place), span, pin),
        into_(into),
        parts_(std::move(parts)) {}

 private:
  Result<std::span<std::byte>> room(std::uint64_t /*length*/) override { return into_; }
  void finish(Result<Answer> answer) override {
    if (!answer) return parts_->arrived(std::move(answer).error());
    parts_->arrived(found());
  }

  const std::span<std::byte> into_;
  const std::shared_ptr<Parts> parts_;
};

/// Passes the caller's stop on to the parts, for as long as the read lasts.
struct Forward {
  std::shared_ptr<Parts> parts;
  void operator()() const { parts->stop().request_stop(); }
};

Result<void> start_parts(Service& service, const std::string& key, const std::string& place,
                         const ByteRange& range, const ReadRequest& request, ReadDone& done) {
  const std::uint64_t part = service.options().part_bytes;
  HEADRACE_TRY(Buffer buffer, allocate(range.length));
  const auto count = static_cast<std::size_t>((range.length + part - 1) / part);
  using Link = std::optional<std::stop_callback<Forward>>;
  auto link = std::make_shared<Link>();
  auto parts = std::make_shared<Parts>(std::move(buffer), count, *request.pin,
                                       [link, done = std::move(done)](Result<ReadResult> result) {
                                         link->reset();
                                         done(std::move(result));
                                       });
  if (request.stop.stop_possible()) link->emplace(request.stop, Forward{parts});
  for (std::uint64_t at = 0; at < range.length; at += part) {
    const std::uint64_t length = std::min(part, range.length - at);
    service.start(
        std::make_unique<PartRead>(service, key, place, Span{.range = {range.offset + at, length}},
                                   *request.pin, parts->part(at, length), parts),
        parts->stop_token());
  }
  return {};
}

}  // namespace

void start_read(Service& service, std::string key, std::string place, ReadRequest request,
                ReadDone done) {
  Span span{.range = request.range};
  if (request.pin) {
    const auto range = resolve(request.range, request.pin->size);
    if (!range) return done(Result<ReadResult>(range.error()).at(place));
    span.range = *range;
    span.whole = range->offset == 0 && range->length == request.pin->size;
    if (range->length > service.options().split_above) {
      if (auto started = start_parts(service, key, place, *range, request, done); !started)
        done(Result<ReadResult>(std::move(started).error()).at(place));
      return;
    }
  } else {
    span.whole = request.range == ByteRange{};
    if (span.length() && request.range.offset > ByteRange::kToEnd - request.range.length)
      return done(Error(Code::invalid, "the range leaves every object").at(place));
  }
  const std::stop_token stop = request.stop;
  service.start(std::make_unique<WholeRead>(service, std::move(key), std::move(place), span,
                                            std::move(request.pin), std::move(done)),
                stop);
}

}  // namespace headrace::s3
