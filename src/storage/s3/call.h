// SPDX-License-Identifier: Apache-2.0
/// \file One S3 request until it succeeds or is given up: signed anew for each attempt, sent again
/// after what may pass, moved to the bucket's region once.
///
/// Not thread-safe: driven by one loop. Derived classes say what is asked and take the answer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headrace/storage/http/exchange.h"
#include "headrace/storage/s3/checksum.h"
#include "headrace/storage/s3/retry.h"
#include "headrace/storage/s3/service.h"
#include "headrace/storage/s3/url.h"
#include "headrace/storage/s3/xml.h"
#include "headrace/storage/store.h"

namespace headrace::s3 {

struct Ask {
  http::Method method = http::Method::get;
  std::optional<std::string> key;  ///< whole; absent: the bucket is asked
  Query query;
  Headers headers;  ///< names in lower case: "range", "if-match"
  Bytes body;
  std::string place;     ///< for errors: "s3://bucket/key"
  bool is_list = false;  ///< counts as Metric::requests_list
};

/// The head of an answer, and its body if nobody took it.
struct Answer {
  int status = 0;
  std::string etag;
  std::string version;
  std::int64_t modified_ns = 0;              ///< 0 = unknown
  std::optional<std::uint64_t> length;       ///< Content-Length
  std::optional<std::uint64_t> range_begin;  ///< Content-Range: bytes B-E/T
  std::optional<std::uint64_t> range_last;   ///< E
  std::optional<std::uint64_t> range_total;  ///< T, also of "bytes */T"
  std::string storage_class;
  std::string archive_status;  ///< of Intelligent-Tiering
  std::string restore;
  std::string region;
  std::optional<BodyChecksum::Kind>
      checksum_kind;      ///< of the body or the whole object, if it is one we check
  std::string checksum;   ///< in base64
  std::int64_t date = 0;  ///< the server's clock, seconds since 1970
  Nanos retry_after{0};
  std::string body;

  /// As far as the answer tells; the size is `size`.
  Pin pin(std::uint64_t size) const;
};

class Call : public http::Exchange {
 public:
  Call(Service& service, Ask ask);

  http::Request begin() final;
  void header(int status, std::string_view name, std::string_view value) final;
  std::span<std::byte> destination(int status) final;
  bool body(int status, ByteSpan bytes) final;
  std::optional<Nanos> end(const http::Outcome& outcome) final;
  void cancelled() final;

 protected:
  Service& service() { return service_; }
  const Ask& asked() const { return ask_; }
  int attempt() const { return attempt_; }

  /// What an earlier attempt brought is void.
  virtual void restart() {}
  /// An answer begins, after this time.
  virtual void first_byte(Nanos /*latency*/) {}
  /// Where the next bytes of a good answer's body belong, if that is known.
  virtual std::span<std::byte> place(const Answer& /*answer*/) { return {}; }
  /// Takes a piece of a good answer's body, which may lie in its place already. An error ends the
  /// attempt.
  virtual Result<void> take(Answer& answer, ByteSpan bytes) = 0;
  /// The answer (2xx) is complete. `unavailable`: it is made again.
  virtual Result<void> check(Answer& /*answer*/) { return {}; }
  /// Turns a refusal into a good end: true if it did, and `check` is not called.
  virtual bool forgive(Answer& /*answer*/, const ErrorAnswer& /*error*/) { return false; }
  /// The last call.
  virtual void finish(Result<Answer> answer) = 0;

 private:
  struct Verdict {
    Error error;
    Again again = Again::no;
  };
  Verdict judge_refusal(const ErrorAnswer& error);
  std::optional<Nanos> repair(const ErrorAnswer& error);
  std::optional<Nanos> renew_credentials();
  Again again_after(const Error& error);
  std::optional<Nanos> fail(Verdict verdict);

  Service& service_;
  Ask ask_;
  std::string query_;
  std::string payload_hash_;
  std::shared_ptr<const Identity> identity_;
  Answer answer_;
  std::optional<Error> take_error_;
  int attempt_ = 0;
  bool moved_ = false;      // to another region: once
  bool set_right_ = false;  // by the server's clock: once
  int rechecks_ = 0;        // of an object that seemed to be another
  int renewals_ = 0;        // times that fresh credentials were waited for
  Nanos started_{0};
  Nanos attempt_started_{0};
  std::uint64_t received_ = 0;  // bytes of a good body, in this attempt
  bool answered_ = false;       // this attempt's answer has begun
  Random random_;
};

/// A call whose answer is a text.
class TextCall final : public Call {
 public:
  using Done = std::function<void(Result<Answer>)>;
  TextCall(Service& service, Ask ask, Done done)
      : Call(service, std::move(ask)), done_(std::move(done)) {}

 protected:
  Result<void> take(Answer& answer, ByteSpan bytes) override;
  Result<void> check(Answer& answer) override;
  void finish(Result<Answer> answer) override { done_(std::move(answer)); }

 private:
  Done done_;
};

/// Makes a text call and waits for its end. Not on a loop's thread.
Result<Answer> call_now(Service& service, Ask ask, const std::stop_token& stop);

}  // namespace headrace::s3
