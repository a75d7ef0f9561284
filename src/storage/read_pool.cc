// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/read_pool.h"

#include <algorithm>
#include <utility>

#include "headrace/storage/ranges.h"

namespace headrace {

ReadPool::ReadPool(std::string name, unsigned threads, Answer answer)
    : name_(std::move(name)), answer_(std::move(answer)) {
  for (unsigned i = 0; i < std::max(threads, 1U); ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
}

ReadPool::~ReadPool() {
  for (auto& thread : threads_) thread.request_stop();
  for (auto& thread : threads_) thread.join();
  for (auto& job : queue_)
    job.done(Error(Code::cancelled, "stopped").at(object_place(name_, job.request.key)));
}

void ReadPool::push(ReadRequest request, ReadDone done) {
  bool wake = false;
  {
    const MutexLock lock(mutex_);
    queue_.push_back({std::move(request), std::move(done)});
    wake = wake_another();
  }
  if (wake) arrived_.notify_one();
}

void ReadPool::serve(const std::stop_token& stop) {
  for (;;) {
    Job job;
    bool wake = false;
    {
      MutexLock lock(mutex_);
      while (queue_.empty()) {
        ++idle_;
        const bool go_on = lock.wait(arrived_, stop);
        --idle_;
        waking_ = false;
        if (!go_on) return;
      }
      job = std::move(queue_.front());
      queue_.pop_front();
      wake = wake_another();
    }
    if (wake) arrived_.notify_one();
    job.done(answer_(job.request, stop).at(object_place(name_, job.request.key)));
  }
}

bool ReadPool::wake_another() {
  if (queue_.empty() || idle_ == 0 || waking_) return false;
  waking_ = true;
  return true;
}

}  // namespace headrace
