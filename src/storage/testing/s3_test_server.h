// SPDX-License-Identifier: Apache-2.0
/// \file An S3 in memory, behind a real socket, that is right, and wrong on order.
///
/// Thread-safe. Signatures are not checked: golden vectors and a real server do that. Keys are
/// bytes; nothing is normalised. Example:
///
///     S3TestServer server;
///     server.plan(fail_first(2, slow_down()));
///     auto store = make_s3_store("b", "", context, server.options());
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/testing/http_server.h"

namespace headrace::testing {

struct S3Seen : HttpSeen {
  std::string bucket;
  std::string key;                           ///< decoded
  std::map<std::string, std::string> query;  ///< decoded
  std::uint64_t number = 0;                  ///< of requests before it
};

/// Asked for each request; may change the right answer, or replace it.
using S3Plan = std::function<void(const S3Seen& request, HttpAnswer& right)>;

/// The first `count` requests of this method get the other answer.
S3Plan fail_first(int count, const std::string& method, const HttpAnswer& other);
/// An answer with an S3 error as its body.
HttpAnswer s3_error(int status, const std::string& code,
                    std::vector<std::pair<std::string, std::string>> headers = {});

/// How this server differs from S3, for all requests.
struct S3Habits {
  bool etags = true;
  bool last_modified = true;
  bool url_encodes = true;  ///< honours encoding-type=url
  bool honours_if_match = true;
  bool honours_range = true;
  bool byte_order = true;   ///< of lists; else the reverse
  bool chunked = false;     ///< objects come without Content-Length
  std::size_t page = 1000;  ///< keys of a list's page
  /// Of ListObjectsV2: known; ignored, so that it answers as the first version; refused.
  enum class SecondList { known, ignored, refused };
  SecondList second_list = SecondList::known;
  /// Of start-after: lists begin behind it; ignored; refused.
  enum class StartAfter { honoured, ignored, refused };
  StartAfter start_after = StartAfter::honoured;
  bool next_marker = true;  ///< a list of the first version tells it, and not with folders only
  bool checksums = false;   ///< tells CRC64NVME where it is asked to, of whole objects
  /// What it tells with a range then: nothing, as AWS; the range's; the whole object's.
  enum class RangeSum { none, own, whole };
  RangeSum range_sum = RangeSum::none;
  bool requester_pays = false;  ///< refuses requests without x-amz-request-payer
  bool virtual_host = false;    ///< the bucket is the first part of the host
  TlsIdentity* tls = nullptr;   ///< not owned
  std::string region;           ///< a request signed for another is sent there, with 301
  std::string storage_class;
};

class S3TestServer {
 public:
  explicit S3TestServer(S3Habits habits = {});

  std::string endpoint() const;
  /// With keys, quick retries and one loop. The bucket is "b".
  S3Options options() const;

  void plan(S3Plan plan);
  void put(const std::string& key, const std::string& content);
  std::vector<S3Seen> seen() const;
  std::size_t open_uploads() const;
  int connections() const { return server_->connections(); }

 private:
  struct Object {
    std::string content;
    std::string etag;
    std::int64_t modified = 0;
  };

  HttpAnswer handle(const HttpSeen& raw);
  HttpAnswer right_answer(const S3Seen& request) HEADRACE_REQUIRES(mutex_);
  HttpAnswer get(const S3Seen& request) HEADRACE_REQUIRES(mutex_);
  /// Keys and folders (true) that follow `after`: a page and one more, or all that there are.
  std::vector<std::pair<std::string, bool>> entries_of(const std::string& prefix, bool by_folder,
                                                       const std::string& after) const
      HEADRACE_REQUIRES(mutex_);
  HttpAnswer list(const S3Seen& request) HEADRACE_REQUIRES(mutex_);
  HttpAnswer put_object(const S3Seen& request) HEADRACE_REQUIRES(mutex_);
  HttpAnswer post(const S3Seen& request) HEADRACE_REQUIRES(mutex_);
  std::string store(const std::string& key, std::string content) HEADRACE_REQUIRES(mutex_);

  const S3Habits habits_;
  mutable Mutex mutex_;
  S3Plan plan_ HEADRACE_GUARDED_BY(mutex_);
  std::map<std::string, Object> objects_ HEADRACE_GUARDED_BY(mutex_);
  std::map<std::string, std::map<int, std::string>> uploads_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<S3Seen> seen_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t generation_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<HttpServer> server_;  // last: its threads use the rest
};

}  // namespace headrace::testing
