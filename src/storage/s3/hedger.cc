// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/hedger.h"

#include <csignal>

namespace headrace::s3 {

void Hedger::stop() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) thread.join();
}

void Hedger::began(const std::shared_ptr<Read>& read) {
  const MutexLock lock(mutex_);
  if (!policy_.patience()) return;
  watched_.push_back({std::chrono::steady_clock::now(), read});
  if (!thread_.joinable() && !stop_) thread_ = std::thread([this] { run(); });
  if (idle_) changed_.notify_all();
}

void Hedger::came(Nanos time) {
  const MutexLock lock(mutex_);
  policy_.observed(time);
}

void Hedger::run() {
  sigset_t all;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  MutexLock lock(mutex_);
  for (;;) {
    while (watched_.empty() && !stop_) {
      idle_ = true;
      lock.wait(changed_);
      idle_ = false;
    }
    if (stop_) return;
    const auto due = watched_.front().since + policy_.patience().value_or(Nanos(0));
    if (std::chrono::steady_clock::now() < due) {
      lock.wait_until(changed_, due);
      continue;
    }
    const auto read = watched_.front().read.lock();
    watched_.pop_front();
    if (read == nullptr || !read->waits()) continue;
    if (policy_.take()) {
      read->hedge();  // only starts a request; nothing in it comes back here
    } else {
      watched_.push_back({std::chrono::steady_clock::now(), read});  // later, if it still waits
    }
  }
}

}  // namespace headrace::s3
