// SPDX-License-Identifier: Apache-2.0
/// \file Keeps credentials fresh: asked for each request, renewed before they expire.
///
/// Thread-safe; `get` and `renew` never wait for a server. A refresh runs on a thread of its own,
/// one at a time, and begins when a request asks within ten minutes of the expiry (a third of the
/// lifetime, if that is less). While it fails the old ones are used, and it is tried again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "headrace/base/clock.h"
#include "headrace/base/mutex.h"
#include "headrace/base/result.h"
#include "headrace/storage/s3/credentials.h"

namespace headrace::s3 {

class Keeper {
 public:
  /// May block; called on the keeper's thread.
  using Obtain = std::function<Result<Credentials>(const std::stop_token&)>;

  /// `obtain` is empty for keys that cannot be renewed. `clock` outlives the keeper.
  Keeper(Credentials first, Obtain obtain, Clock& clock);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  std::shared_ptr<const Credentials> get();

  enum class Renewal {
    done,    ///< others are there already
    coming,  ///< ask again soon
    none,    ///< there are no others to be had
  };
  /// A server said that these have expired.
  Renewal renew(const std::shared_ptr<const Credentials>& refused);

  /// Why the last refresh failed, if it did.
  std::optional<Error> trouble() const;

 private:
  void wake() HEADRACE_REQUIRES(mutex_);
  void run(const std::stop_token& stop);
  std::int64_t refresh_at() const HEADRACE_REQUIRES(mutex_);

  const Obtain obtain_;
  Clock& clock_;
  mutable Mutex mutex_;
  Condition woken_;
  std::shared_ptr<const Credentials> current_ HEADRACE_GUARDED_BY(mutex_);
  std::int64_t since_ HEADRACE_GUARDED_BY(mutex_) = 0;       // when they were obtained
  std::int64_t not_before_ HEADRACE_GUARDED_BY(mutex_) = 0;  // after a refresh that failed
  bool wanted_ HEADRACE_GUARDED_BY(mutex_) = false;          // a refresh is due, or under way
  // Refused by a server, and a refresh brought nothing else.
  std::shared_ptr<const Credentials> hopeless_ HEADRACE_GUARDED_BY(mutex_);
  std::optional<Error> trouble_ HEADRACE_GUARDED_BY(mutex_);
  std::jthread thread_ HEADRACE_GUARDED_BY(mutex_);  // from the first refresh on
};

}  // namespace headrace::s3
