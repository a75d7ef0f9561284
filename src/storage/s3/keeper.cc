// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/keeper.h"

#include <algorithm>
#include <csignal>

namespace headrace::s3 {
namespace {

constexpr std::int64_t kEarly = 600;  // seconds before the expiry
constexpr std::int64_t kPause = 10;   // after a refresh that failed

}  // namespace

Keeper::Keeper(Credentials first, Obtain obtain, Clock& clock)
    : obtain_(std::move(obtain)),
      clock_(clock),
      current_(std::make_shared<const Credentials>(std::move(first))),
      since_(clock.wall_seconds()) {}

Keeper::~Keeper() {
  std::jthread thread;
  {
    const MutexLock lock(mutex_);
    thread = std::move(thread_);
  }
  // Its destructor asks for a stop and joins, without the lock.
}

std::int64_t Keeper::refresh_at() const {
  const std::int64_t lifetime = std::max<std::int64_t>(current_->expires - since_, 0);
  return current_->expires - std::min(kEarly, lifetime / 3);
}

std::shared_ptr<const Credentials> Keeper::get() {
  const MutexLock lock(mutex_);
  if (obtain_ && current_->expires != 0 && !wanted_) {
    const std::int64_t now = clock_.wall_seconds();
    if (now >= refresh_at() && now >= not_before_) wake();
  }
  return current_;
}

Keeper::Renewal Keeper::renew(const std::shared_ptr<const Credentials>& refused) {
  const MutexLock lock(mutex_);
  if (current_ != refused) return Renewal::done;
  if (!obtain_) return Renewal::none;
  if (wanted_) return Renewal::coming;
  if (hopeless_ == refused && clock_.wall_seconds() < not_before_) return Renewal::none;
  wake();
  return Renewal::coming;
}

std::optional<Error> Keeper::trouble() const {
  const MutexLock lock(mutex_);
  return trouble_;
}

void Keeper::wake() {
  wanted_ = true;
  if (!thread_.joinable())
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  woken_.notify_all();
}

void Keeper::run(const std::stop_token& stop) {
  sigset_t all;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!wanted_) {
        if (!lock.wait(woken_, stop)) return;
      }
    }
    auto found = obtain_(stop);
    if (stop.stop_requested()) return;
    const MutexLock lock(mutex_);
    const std::int64_t now = clock_.wall_seconds();
    const bool same = found && found->access_key == current_->access_key &&
                      found->session_token == current_->session_token &&
                      found->expires == current_->expires;
    if (found && !same) {
      current_ = std::make_shared<const Credentials>(*std::move(found));
      since_ = now;
      trouble_.reset();
      hopeless_.reset();
    } else {
      trouble_ = found ? std::nullopt : std::optional(std::move(found).error());
      hopeless_ = current_;
      not_before_ = now + kPause;
    }
    wanted_ = false;
  }
}

}  // namespace headrace::s3
