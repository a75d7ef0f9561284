// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/s3_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/base/random.h"

namespace headrace::testing {
namespace {

using namespace std::chrono_literals;
using End = HttpAnswer::End;

void replace(HttpAnswer& right, HttpAnswer other) {
  other.no_body = right.no_body;
  right = std::move(other);
}
bool good(const HttpAnswer& answer) { return answer.status < 300; }
bool is_read(const S3Seen& request) { return request.method == "GET" && !request.key.empty(); }

void slow_down(const S3Seen&, HttpAnswer& right) { replace(right, s3_error(503, "SlowDown")); }
void internal_error(const S3Seen&, HttpAnswer& right) {
  replace(right, s3_error(500, "InternalError"));
}
void short_body(const S3Seen&, HttpAnswer& right) {
  right.end = End::close;
  right.sent = right.body.size() / 2;
}
void reset(const S3Seen&, HttpAnswer& right) {
  right.end = End::reset;
  right.sent = right.body.size() / 2;
}
void no_answer(const S3Seen&, HttpAnswer& right) {
  right.end = End::close;
  right.nothing = true;
}
void hang(const S3Seen&, HttpAnswer& right) {
  right.end = End::hang;
  right.sent = right.body.size() / 2;
}
void wrong_length(const S3Seen& request, HttpAnswer& right) {
  if (is_read(request) && good(right) && !right.body.empty()) right.body.pop_back();
}
void damaged(const S3Seen& request, HttpAnswer& right) {
  if (is_read(request) && good(right) && !right.body.empty())
    right.body[right.body.size() / 2] ^= 0x10;
}
void set_etag(HttpAnswer& right, const char* etag) {
  std::erase_if(right.headers, [](const auto& header) { return header.first == "ETag"; });
  if (etag != nullptr) right.headers.emplace_back("ETag", etag);
}
void stale_etag(const S3Seen& request, HttpAnswer& right) {
  if (is_read(request) && good(right)) set_etag(right, "\"of-yesterday\"");
}
void missing_etag(const S3Seen& request, HttpAnswer& right) {
  if (is_read(request) && good(right)) set_etag(right, nullptr);
}
void precondition(const S3Seen& request, HttpAnswer& right) {
  if (is_read(request)) replace(right, s3_error(412, "PreconditionFailed"));
}
void slow_first_byte(const S3Seen&, HttpAnswer& right) { right.delay = 300ms; }
void garbage(const S3Seen& request, HttpAnswer& right) {
  if (request.key.empty()) replace(right, {.body = "<html>gateway</html>"});
}
void request_timeout(const S3Seen&, HttpAnswer& right) {
  replace(right, s3_error(400, "RequestTimeout"));
}

struct Named {
  const char* name;
  const char* what;
  void (*fault)(const S3Seen&, HttpAnswer&);
  std::uint64_t burst = 1;
};
constexpr Named kFaults[] = {
    {"slow-down", "503 SlowDown", &slow_down},
    {"slow-down-burst", "503 to 20 requests in a row", &slow_down, 20},
    {"internal-error", "500 InternalError", &internal_error},
    {"request-timeout", "400 RequestTimeout", &request_timeout},
    {"short-body", "half of the body, then the connection ends", &short_body},
    {"reset", "half of the body, then a reset", &reset},
    {"no-answer", "the connection ends without a status line", &no_answer},
    {"hang", "half of the body, then nothing more", &hang},
    {"wrong-length", "a whole body that is one byte short", &wrong_length},
    {"damaged", "one bit of the body flipped; the checksum is right", &damaged},
    {"stale-etag", "another ETag than the object has", &stale_etag},
    {"missing-etag", "no ETag", &missing_etag},
    {"precondition", "412 though nothing changed", &precondition},
    {"slow-first-byte", "300 ms later", &slow_first_byte},
    {"garbage-list", "HTML instead of a list", &garbage},
};

}  // namespace

std::string fault_names() {
  std::string text;
  for (const auto& each : kFaults) text += fmt::format("  {:<16} {}\n", each.name, each.what);
  return text;
}

Result<std::shared_ptr<S3Faults>> S3Faults::make(const FaultRates& rates, std::uint64_t seed) {
  std::shared_ptr<S3Faults> faults(new S3Faults(seed));
  for (const auto& [name, rate] : rates) {
    const auto* found = std::ranges::find_if(
        kFaults, [&wanted = name](const Named& each) { return wanted == each.name; });
    if (found == std::end(kFaults)) {
      return Error(Code::invalid, fmt::format("there is no fault {}", name),
                   "these there are:\n" + fault_names());
    }
    if (!(rate >= 0 && rate <= 1))
      return Error(Code::invalid, fmt::format("the rate of {} is no share from 0 to 1", name));
    faults->rates_.push_back({name, found->fault, rate, found->burst});
  }
  return faults;
}

void S3Faults::befall(const S3Seen& request, HttpAnswer& right) {
  for (const Rate& each : rates_) {
    // One draw a fault, so that none hides behind another's.
    Random random(mix_key(seed_, request.number / each.burst, std::hash<std::string>()(each.name)));
    if (random.uniform() >= each.rate) continue;
    each.fault(request, right);
    const MutexLock lock(mutex_);
    ++counts_[each.name];
  }
}

std::map<std::string, std::uint64_t> S3Faults::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace headrace::testing
