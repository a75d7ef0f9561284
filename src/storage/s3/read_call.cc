// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/read_call.h"

#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/block.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/s3/part_read.h"
#include "headrace/storage/s3/race.h"

namespace headrace::s3 {
namespace {

/// What the parts of one large read share.
class Parts {
 public:
  Parts(Buffer buffer, std::uint64_t part, std::size_t count, Pin pin, std::string place,
        ReadDone done)
      : buffer_(std::move(buffer)),
        part_(part),
        left_(count),
        sums_(count),
        pin_(std::move(pin)),
        place_(std::move(place)),
        done_(std::move(done)) {}

  std::span<std::byte> part(std::uint64_t offset, std::uint64_t length) {
    return buffer_.span().subspan(static_cast<std::size_t>(offset),
                                  static_cast<std::size_t>(length));
  }
  std::stop_token stop_token() const { return stop_.get_token(); }
  std::stop_source& stop() { return stop_; }

  void arrived(std::size_t index, Result<PartCame> part) {
    bool failed = false;
    {
      const MutexLock lock(mutex_);
      if (part) {
        sums_[index] = std::move(part->of_object);
      } else if (!error_) {
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
      if (!error) error = against_checksum();
    }
    if (error) return done_(*std::move(error));
    const auto size = buffer_.size();
    done_(ReadResult{std::move(buffer_).freeze(size), pin_});
  }

 private:
  /// All parts of the object have come, and with each the same checksum which is not of that part:
  /// then it is of the object.
  std::optional<Error> against_checksum() HEADRACE_REQUIRES(mutex_) {
    if (buffer_.size() != pin_.size || !sums_.front()) return std::nullopt;
    BodyChecksum whole = sums_.front()->own;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (!sums_[i] || sums_[i]->told != sums_.front()->told) return wrong();
      const std::uint64_t at = i * part_;
      if (i != 0) whole.append(sums_[i]->own, std::min(part_, buffer_.size() - at));
    }
    if (whole.value() != sums_.front()->told) return wrong();
    return std::nullopt;
  }
  Error wrong() const {
    return Error(Code::unavailable, "the bytes do not have the checksum that the server tells")
        .at(place_);
  }

  Buffer buffer_;
  const std::uint64_t part_;
  Mutex mutex_;
  std::size_t left_ HEADRACE_GUARDED_BY(mutex_);
  std::optional<Error> error_ HEADRACE_GUARDED_BY(mutex_);  // the first
  std::vector<std::optional<ToldChecksum>> sums_ HEADRACE_GUARDED_BY(mutex_);
  const Pin pin_;
  const std::string place_;
  const ReadDone done_;
  std::stop_source stop_;
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
  auto parts = std::make_shared<Parts>(std::move(buffer), part, count, *request.pin, place,
                                       [link, done = std::move(done)](Result<ReadResult> result) {
                                         link->reset();
                                         done(std::move(result));
                                       });
  if (request.stop.stop_possible()) link->emplace(request.stop, Forward{parts});
  for (std::uint64_t at = 0; at < range.length; at += part) {
    const std::uint64_t length = std::min(part, range.length - at);
    start_part(service, key, place, {range.offset + at, length}, *request.pin,
               parts->part(at, length), parts->stop_token(),
               [parts, index = at / part](Result<PartCame> came) {
                 parts->arrived(index, std::move(came));
               });
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
  start_whole_read(service, std::move(key), std::move(place), span, std::move(request.pin), stop,
                   std::move(done));
}

}  // namespace headrace::s3
