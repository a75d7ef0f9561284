// SPDX-License-Identifier: Apache-2.0
/// \file What all requests of one S3 store share: where, as whom, signed how, carried by which
/// loop.
///
/// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/base/mutex.h"
#include "headrace/storage/http/loop.h"
#include "headrace/storage/s3/endpoint.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/s3/sigv4.h"

namespace headrace::s3 {

/// Where and as whom a request is made; immutable.
struct Identity {
  Endpoint endpoint;
  Credentials credentials;
};

class Service {
 public:
  static Result<std::unique_ptr<Service>> make(std::string bucket, const Context& context,
                                               const S3Options& options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  const Context& context() const { return context_; }
  const S3Options& options() const { return options_; }
  const std::string& bucket() const { return bucket_; }
  std::shared_ptr<const Identity> identity() const;

  /// Adds x-amz-* and Authorization to `headers`, which hold what else is to be signed.
  void sign(const Identity& identity, std::string_view method, std::string_view path,
            std::string_view query, std::string_view payload_hash, Headers& headers);

  /// Later requests go to this region. False if they do already.
  bool move_to_region(const std::string& region);
  /// Reads the credentials anew, for those that expired. False if they are the same.
  bool reload_credentials();
  /// The server's clock is this far ahead of ours, in seconds. False if that is known.
  bool set_skew(std::int64_t seconds);

  /// Carries the exchange by the loop that has least to do.
  void start(std::unique_ptr<http::Exchange> exchange, const std::stop_token& stop);

  /// For one request's retries.
  std::uint64_t next_seed() {
    return mix_key(seed_, count_.fetch_add(1, std::memory_order_relaxed));
  }

  /// `invalid` in a process that was forked from the one that made this.
  Result<void> check_process() const;

  /// Says once that pins of this store are weak.
  void notice_weak_pin(const std::string& place);

 private:
  Service(std::string bucket, const Context& context, const S3Options& options, Settings settings,
          Endpoint endpoint);
  std::shared_ptr<const SigningKey> signing_key(const Identity& identity, std::string_view day);

  const std::string bucket_;
  const Context context_;
  const S3Options options_;
  const Settings settings_;
  const int process_;
  std::uint64_t seed_ = 0;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> skew_{0};
  std::atomic<bool> weak_pin_noticed_{false};
  mutable Mutex mutex_;
  std::shared_ptr<const Identity> identity_ HEADRACE_GUARDED_BY(mutex_);
  std::shared_ptr<const SigningKey> key_ HEADRACE_GUARDED_BY(mutex_);
  std::string key_secret_ HEADRACE_GUARDED_BY(mutex_);  // what key_ was made of
  std::vector<std::unique_ptr<http::Loop>> loops_;
};

}  // namespace headrace::s3
