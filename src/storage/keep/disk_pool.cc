// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/disk_pool.h"

#include <algorithm>
#include <utility>

namespace headrace::keep {

DiskPool::DiskPool(Cache& cache, unsigned lanes, Answer answer)
    : cache_(cache),
      answer_(std::move(answer)),
      lane_count_(std::max(1U, lanes)),
      at_work_(lane_count_) {}

void DiskPool::push(DiskReadPtr read) {
  {
    const MutexLock lock(mutex_);
    if (!closing_) {
      queue_.push_back(std::move(read));
      ready_.notify_one();
      return;
    }
  }
  answer_(std::move(read), Error(Code::cancelled, "stopped"));
}

void DiskPool::close() {
  const MutexLock lock(mutex_);
  closing_ = true;
  ready_.notify_all();
}

void DiskPool::work(std::size_t lane) {
  while (true) {
    Parts parts;
    std::shared_ptr<const WantedParts> wanted;
    bool stopped = false;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !closing_) lock.wait(ready_);
      if (queue_.empty()) return;
      DiskReadPtr& mine = at_work_[lane];
      mine = std::move(queue_.front());
      queue_.pop_front();
      stopped = closing_ || mine->request.stop.stop_requested();
      parts = std::move(mine->parts);
      wanted = std::move(mine->wanted);
    }
    Result<Bytes> bytes = Error(Code::cancelled, "stopped");
    if (!stopped) bytes = wanted ? cache_.read_blocks(parts, *wanted) : cache_.read(parts);
    DiskReadPtr read;
    {
      const MutexLock lock(mutex_);
      read = std::move(at_work_[lane]);
    }
    if (read) answer_(std::move(read), std::move(bytes));
  }
}

std::vector<DiskReadPtr> DiskPool::take_all() {
  return take_if([](const DiskRead&) { return true; });
}

std::vector<DiskReadPtr> DiskPool::take_stopped() {
  return take_if([](const DiskRead& read) { return read.request.stop.stop_requested(); });
}

std::vector<DiskReadPtr> DiskPool::take_if(const std::function<bool(const DiskRead&)>& wanted) {
  std::vector<DiskReadPtr> taken;
  const auto take = [&](DiskReadPtr& read) {
    if (read && wanted(*read)) taken.push_back(std::move(read));
  };
  const MutexLock lock(mutex_);
  std::ranges::for_each(at_work_, take);
  std::ranges::for_each(queue_, take);
  std::erase(queue_, nullptr);
  return taken;
}

}  // namespace headrace::keep
