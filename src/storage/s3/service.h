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
#include "headrace/storage/s3/governor.h"
#include "headrace/storage/s3/hedger.h"
#include "headrace/storage/s3/keeper.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/s3/sigv4.h"

namespace headrace::s3 {

/// Where and as whom a request is made; immutable.
struct Identity {
  Endpoint endpoint;
  std::shared_ptr<const Credentials> credentials;
};

class Service {
 public:
  /// Gets the first keys, if they are to be asked for.
  static Result<std::unique_ptr<Service>> make(std::string bucket, const Context& context,
                                               const S3Options& options,
                                               const std::stop_token& stop);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  const Context& context() const { return context_; }
  const S3Options& options() const { return options_; }
  const std::string& bucket() const { return bucket_; }
  /// For one attempt: credentials are as fresh as they are to be had.
  std::shared_ptr<const Identity> identity();
  bool requester_pays() const { return settings_.request_payer; }

  /// Adds x-amz-* and Authorization to `headers`, which hold what else is to be signed.
  void sign(const Identity& identity, std::string_view method, std::string_view path,
            std::string_view query, std::string_view payload_hash, Headers& headers);

  /// Later requests go to this region. False if they do already.
  bool move_to_region(const std::string& region);
  /// The server said that these have expired: whether others are there, or to come.
  Keeper::Renewal renew(const Identity& refused) { return keeper_->renew(refused.credentials); }
  /// Why keys could not be refreshed, if so.
  std::optional<Error> credentials_trouble() const { return keeper_->trouble(); }
  /// The server's clock is this far ahead of ours, in seconds.
  void set_skew(std::int64_t seconds) { skew_.store(seconds, std::memory_order_relaxed); }
  std::int64_t skew() const { return skew_.load(std::memory_order_relaxed); }

  /// Carries the exchange by the loop that has least to do.
  void start(std::unique_ptr<http::Exchange> exchange, const std::stop_token& stop);

  /// The server has given a good answer before: what it does not answer now is an outage.
  bool has_answered() const { return has_answered_.load(std::memory_order_relaxed); }
  void set_answered() { has_answered_.store(true, std::memory_order_relaxed); }

  /// This server knows the first version of LIST only.
  bool list_v1() const { return list_v1_.load(std::memory_order_relaxed); }
  void set_list_v1() { list_v1_.store(true, std::memory_order_relaxed); }

  /// For one request's retries.
  std::uint64_t next_seed() {
    return mix_key(seed_, count_.fetch_add(1, std::memory_order_relaxed));
  }

  /// An attempt was answered: what it tells of how much the road carries.
  void measured(std::uint64_t bytes, Nanos latency, bool throttled);
  /// Null if hedging is off.
  Hedger* hedger() { return hedger_.get(); }
  /// The same for parts of large reads, which are judged by when they are whole.
  Hedger* part_hedger() { return part_hedger_.get(); }

  /// The server has told the checksum of a range: what it tells of ranges must hold.
  bool tells_of_ranges() const { return tells_of_ranges_.load(std::memory_order_relaxed); }
  void set_tells_of_ranges() { tells_of_ranges_.store(true, std::memory_order_relaxed); }

  /// `invalid` in a process that was forked from the one that made this.
  Result<void> check_process() const;

  /// Says once that pins of this store are weak.
  void notice_weak_pin(const std::string& place);

 private:
  Service(std::string bucket, Context context, const S3Options& options, Settings settings,
          Endpoint endpoint, std::unique_ptr<Keeper> keeper);
  void spread(std::size_t limit);
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
  std::atomic<bool> list_v1_{false};
  std::atomic<bool> tells_of_ranges_{false};
  std::atomic<bool> has_answered_{false};
  std::unique_ptr<Keeper> keeper_;
  mutable Mutex mutex_;
  std::shared_ptr<const Identity> identity_ HEADRACE_GUARDED_BY(mutex_);
  std::shared_ptr<const SigningKey> key_ HEADRACE_GUARDED_BY(mutex_);
  std::string key_secret_ HEADRACE_GUARDED_BY(mutex_);  // what key_ was made of
  Governor governor_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<http::Loop>> loops_;
  std::unique_ptr<Hedger> hedger_;  // these stop before the loops end, and outlive them
  std::unique_ptr<Hedger> part_hedger_;
};

}  // namespace headrace::s3
