// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/range_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headrace/storage/ranges.h"

namespace headrace::s3 {
namespace {

Ask ask_for(const std::string& key, const std::string& place, const Span& span,
            const std::optional<Pin>& pin) {
  Ask ask{.method = http::Method::get, .key = key, .place = place};
  if (pin && !pin->etag.empty()) ask.headers.emplace_back("if-match", pin->etag);
  ask.headers.emplace_back("x-amz-checksum-mode", "ENABLED");
  if (!span.whole) {
    ask.headers.emplace_back("range", span.length()
                                          ? fmt::format("bytes={}-{}", span.range.offset,
                                                        span.range.offset + span.range.length - 1)
                                          : fmt::format("bytes={}-", span.range.offset));
  }
  return ask;
}

std::optional<std::uint64_t> total(const Answer& answer) {
  return answer.status == 206 ? answer.range_total : answer.length;
}

}  // namespace

RangeGet::RangeGet(Service& service, const std::string& key, const std::string& place, Span span,
                   std::optional<Pin> pin)
    : Call(service, ask_for(key, place, span, pin)), span_(span), pin_(std::move(pin)) {}

void RangeGet::first_byte(Nanos latency) {
  if (Hedger* hedger = service().hedger(); hedger != nullptr) hedger->came(latency);
}

void RangeGet::restart() {
  filled_ = 0;
  skipped_ = 0;
  compared_ = false;
  checksum_.reset();
  of_object_.reset();
  spill_.clear();
  if (!span_.length()) into_ = {};  // another attempt may meet another size
  began();
}

Result<void> RangeGet::take(Answer& answer, ByteSpan bytes) {
  service().context().metrics->add(Metric::bytes_origin, bytes.size());
  HEADRACE_TRY(compare(answer));
  if (!span_.whole && answer.status == 200) bytes = skip(bytes);  // the Range was ignored
  if (answer.checksum_kind && span_.whole == (answer.status == 200)) {
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
  std::byte* const at = into_.data() + filled_;
  if (!bytes.empty() && bytes.data() != at) std::memcpy(at, bytes.data(), bytes.size());
  filled_ += bytes.size();
  return {};
}

/// Known once the first bytes have come, and been compared with the pin.
std::span<std::byte> RangeGet::place(const Answer& answer) {
  const bool skips = !span_.whole && answer.status == 200;
  if (into_.empty() || !compared_ || skips) return {};
  return into_.subspan(filled_);
}

Result<void> RangeGet::check(Answer& answer) {
  if (!spill_.empty()) {
    HEADRACE_TRY(into_, room(spill_.size()));
    std::memcpy(into_.data(), spill_.data(), spill_.size());
    filled_ = spill_.size();
  }
  const bool begins = !answer.range_begin || *answer.range_begin == span_.range.offset;
  // Without a pin it may leave the object, which is told below.
  const bool ends = !pin_ || !answer.range_last || !span_.length() ||
                    *answer.range_last == span_.range.offset + *span_.length() - 1;
  if (answer.status == 206 && !(begins && ends))
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
  HEADRACE_TRY(check_sum(answer));
  if (!span_.length() && !pin_) {
    if (total(answer)) HEADRACE_TRY(resolve(span_.range, *total(answer)));
    if (!total(answer)) found_.size = span_.range.offset + filled_;  // only now is it known
  }
  return {};
}

/// With a range servers tell the checksum of the range, of the whole object, or none.
Result<void> RangeGet::check_sum(const Answer& answer) {
  if (!checksum_) return {};
  if (checksum_->value() == answer.checksum) {
    if (!span_.whole) service().set_tells_of_ranges();
    return {};
  }
  if (span_.whole || service().tells_of_ranges())
    return Error(Code::unavailable, "the bytes do not have the checksum that the server tells");
  of_object_ = ToldChecksum{answer.checksum, *checksum_};
  return {};
}

/// A range of an object that turns out to be empty, or to end where the range begins.
bool RangeGet::forgive(Answer& answer, const ErrorAnswer& /*error*/) {
  if (answer.status != 416 || span_.length() || pin_) return false;
  nothing_ = answer.range_total && *answer.range_total == span_.range.offset;
  if (nothing_) found_ = answer.pin(*answer.range_total);
  return nothing_;
}

/// The ETag of the answer counts, since some servers ignore If-Match. Once an answer.
Result<void> RangeGet::compare(const Answer& answer) {
  if (std::exchange(compared_, true)) return {};
  found_ = answer.pin(total(answer).value_or(pin_ ? pin_->size : filled_));
  if (found_.weak()) service().notice_weak_pin(asked().place);
  if (!pin_) return {};
  if (found_.modified_ns == 0) found_.modified_ns = pin_->modified_ns;
  if (!same_version(*pin_, found_)) return changed_error(*pin_, found_);
  if (total(answer) && (answer.status == 206 || span_.whole) && *total(answer) != pin_->size) {
    return Error(
        Code::unavailable,
        fmt::format("the server tells a size of {} bytes, and listed {} of the same object",
                    *total(answer), pin_->size));
  }
  return {};
}

std::uint64_t RangeGet::to_skip(const Answer& answer) const {
  return !span_.whole && answer.status == 200 ? span_.range.offset : 0;
}

ByteSpan RangeGet::skip(ByteSpan bytes) {
  const auto skipped = std::min<std::uint64_t>(bytes.size(), span_.range.offset - skipped_);
  skipped_ += skipped;
  return bytes.subspan(skipped);
}

}  // namespace headrace::s3
