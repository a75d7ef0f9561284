// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/s3_writer.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "headrace/storage/block.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/s3/call.h"

namespace headrace::s3 {
namespace {

constexpr std::size_t kFirstPart = std::size_t{8} << 20U;  // S3's least is 5 MiB
/// S3 takes 10,000 parts: each thousand has parts of twice the size, 8 GiB in the last.
constexpr std::size_t kPartsOfASize = 1000;
constexpr std::size_t kInFlight = 4;

std::size_t part_size(std::size_t index) { return kFirstPart << (index / kPartsOfASize); }

class S3Writer final : public ObjectWriter {
 public:
  S3Writer(Service& service, std::string key, std::string place, std::stop_token stop)
      : service_(service), key_(std::move(key)), place_(std::move(place)), stop_(std::move(stop)) {}
  S3Writer(const S3Writer&) = delete;
  S3Writer& operator=(const S3Writer&) = delete;
  ~S3Writer() override {
    wait_for(0);
    if (!upload_.empty()) {
      // Its error has no one to go to; a bucket's lifecycle rule is the second net.
      (void)call_now(service_, about_upload(http::Method::remove, {}), {});
    }
  }

  Result<void> append(ByteSpan bytes) override {
    if (finished_) return Error(Code::invalid, "append after finish").at(place_);
    while (!bytes.empty()) {
      if (buffer_.size() == 0) {
        HEADRACE_TRY(buffer_, allocate(part_size(etags_size_)).at(place_));
        filled_ = 0;
      }
      const auto some = bytes.first(std::min(bytes.size(), buffer_.size() - filled_));
      std::memcpy(buffer_.data() + filled_, some.data(), some.size());
      filled_ += some.size();
      bytes = bytes.subspan(some.size());
      total_ += some.size();
      if (filled_ == buffer_.size()) HEADRACE_TRY(send_part());
    }
    return {};
  }

  Result<Pin> finish() override {
    if (finished_) return Error(Code::invalid, "finish twice").at(place_);
    finished_ = true;
    return upload_.empty() ? put_whole() : complete();
  }

 private:
  Ask about_upload(http::Method method, Query query) const {
    query.emplace_back("uploadId", upload_);
    return {.method = method, .key = key_, .query = std::move(query), .place = place_};
  }

  Bytes take_buffer() {
    if (buffer_.size() == 0) return {};
    return std::move(buffer_).freeze(std::exchange(filled_, 0));
  }

  Result<Pin> put_whole() {
    HEADRACE_TRY(
        const Answer answer,
        call_now(service_,
                 {.method = http::Method::put, .key = key_, .body = take_buffer(), .place = place_},
                 stop_));
    return pin_of(answer.etag, answer.version);
  }

  Result<Pin> pin_of(const std::string& etag, const std::string& version) {
    if (etag.empty()) return head_pin(service_, key_, place_, stop_);
    return Pin{.etag = etag, .version = version, .size = total_};
  }

  Result<void> send_part() {
    if (upload_.empty()) {
      HEADRACE_TRY(const Answer answer, call_now(service_,
                                                 {.method = http::Method::post,
                                                  .key = key_,
                                                  .query = {{"uploads", ""}},
                                                  .place = place_},
                                                 stop_));
      upload_ = child_text(answer.body, "UploadId");
      if (upload_.empty())
        return Error(Code::corrupt, "the server began an upload without an UploadId").at(place_);
    }
    wait_for(kInFlight - 1);
    const std::size_t index = etags_size_++;
    {
      const MutexLock lock(mutex_);
      if (error_) return *error_;
      etags_.resize(etags_size_);
      ++in_flight_;
    }
    Ask ask = about_upload(http::Method::put, {{"partNumber", std::to_string(index + 1)}});
    ask.body = take_buffer();
    service_.start(std::make_unique<TextCall>(
                       service_, std::move(ask),
                       [this, index](Result<Answer> answer) { arrived(index, std::move(answer)); }),
                   stop_);
    return {};
  }

  void arrived(std::size_t index, Result<Answer> answer) {
    const MutexLock lock(mutex_);
    if (answer) {
      etags_[index] = std::move(answer->etag);
    } else if (!error_) {
      error_ = std::move(answer).error();
    }
    --in_flight_;
    changed_.notify_all();  // under the lock: whoever waits may destroy us next
  }

  /// Until at most so many parts are in flight. A stop ends the parts themselves.
  void wait_for(std::size_t most) {
    MutexLock lock(mutex_);
    while (in_flight_ > most) lock.wait(changed_);
  }

  Result<Pin> complete() {
    if (filled_ > 0) HEADRACE_TRY(send_part());
    wait_for(0);
    std::string list = "<CompleteMultipartUpload>";
    {
      const MutexLock lock(mutex_);
      if (error_) return *error_;
      for (std::size_t i = 0; i < etags_.size(); ++i) {
        list += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                            etags_[i]);
      }
    }
    list += "</CompleteMultipartUpload>";
    Ask ask = about_upload(http::Method::post, {});
    ask.body = Bytes::copy_of(list);
    auto answer = call_now(service_, std::move(ask), stop_);
    if (!answer) return std::move(answer).error();
    upload_.clear();
    return pin_of(child_text(answer->body, "ETag"), answer->version);
  }

  Service& service_;
  const std::string key_;
  const std::string place_;
  const std::stop_token stop_;
  Buffer buffer_;
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
  std::string upload_;          // its id, while there is one to complete or abort
  std::size_t etags_size_ = 0;  // parts begun
  bool finished_ = false;
  Mutex mutex_;
  Condition changed_;
  std::size_t in_flight_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> etags_ HEADRACE_GUARDED_BY(mutex_);
  std::optional<Error> error_ HEADRACE_GUARDED_BY(mutex_);  // the first
};

}  // namespace

std::unique_ptr<ObjectWriter> make_writer(Service& service, std::string key, std::string place,
                                          const std::stop_token& stop) {
  return std::make_unique<S3Writer>(service, std::move(key), std::move(place), stop);
}

Result<Pin> head_pin(Service& service, const std::string& key, const std::string& place,
                     const std::stop_token& stop) {
  HEADRACE_TRY(const Answer answer,
               call_now(service, {.method = http::Method::head, .key = key, .place = place}, stop));
  if (!answer.length) return Error(Code::corrupt, "the server tells no size").at(place);
  const Pin pin = answer.pin(*answer.length);
  if (pin.weak()) service.notice_weak_pin(place);
  return pin;
}

}  // namespace headrace::s3
