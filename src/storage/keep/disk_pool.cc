// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/disk_pool.h"

#include <algorithm>
#include <utility>

namespace headrace::keep {

DiskPool::DiskPool(Cache& cache, Clock& clock, unsigned threads, Answer answer)
    : cache_(cache), clock_(clock), answer_(std::move(answer)), lanes_(std::max(1U, threads)) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    threads_.emplace_back([this, lane] { work(lane); });
}

DiskPool::~DiskPool() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    ready_.notify_all();
  }
  threads_.clear();
}

void DiskPool::push(DiskReadPtr read) {
  const MutexLock lock(mutex_);
  queue_.push_back(std::move(read));
  ready_.notify_one();
}

void DiskPool::work(std::size_t lane) {
  while (true) {
    Parts parts;
    bool stopped = false;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !closing_) lock.wait(ready_);
      if (queue_.empty()) return;
      Lane& mine = lanes_[lane];
      mine.read = std::move(queue_.front());
      queue_.pop_front();
      stopped = closing_ || mine.read->request.stop.stop_requested();
      mine.busy = true;
      mine.since = clock_.now();
      parts = std::move(mine.read->parts);
    }
    Result<Bytes> bytes = Error(Code::cancelled, "stopped");
    if (!stopped) bytes = cache_.read(parts);
    DiskReadPtr read;
    {
      const MutexLock lock(mutex_);
      lanes_[lane].busy = false;
      read = std::move(lanes_[lane].read);
    }
    if (read) answer_(std::move(read), std::move(bytes));
  }
}

std::vector<DiskReadPtr> DiskPool::take_back(Nanos since) {
  std::vector<DiskReadPtr> taken;
  const MutexLock lock(mutex_);
  for (Lane& lane : lanes_)
    if (lane.busy && lane.since < since && lane.read) taken.push_back(std::move(lane.read));
  if (taken.empty()) return taken;
  std::ranges::move(queue_, std::back_inserter(taken));
  queue_.clear();
  return taken;
}

bool DiskPool::is_stuck(Nanos since) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(lanes_,
                             [since](const Lane& lane) { return lane.busy && lane.since < since; });
}

}  // namespace headrace::keep
