// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headrace/base/human.h"
#include "headrace/storage/keep/engine.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWriteAtOnce = std::uint64_t{16} << 20U;
constexpr Nanos kTick = 250ms;  ///< of the watcher; also how often others' logs are followed

}  // namespace

// --- to the disk ---------------------------------------------------------------------------------

void Engine::write() {
  learn();
  end_early();
  std::vector<Task> tasks;
  while (true) {
    bool look = false;
    tasks.clear();
    {
      MutexLock lock(mutex_);
      writing_ = false;
      idle_.notify_all();
      while (to_write_.empty() && !look_ && !written_out_) lock.wait(writable_);
      if (to_write_.empty() && !look_) return;
      writing_ = true;
      look = std::exchange(look_, false);
      for (std::uint64_t bytes = 0; !to_write_.empty() && bytes < kWriteAtOnce;) {
        tasks.push_back(std::move(to_write_.front()));
        to_write_.pop_front();
        bytes += tasks.back().item.bytes.size();
      }
    }
    if (look && health_.usable()) learn();
    if (!tasks.empty()) write_tasks(tasks);
    if (!look) continue;
    const MutexLock lock(mutex_);
    ++looks_;
  }
}

/// The reads that came first go on: what is kept is known, or takes too long to be found out.
void Engine::end_early() {
  std::deque<std::pair<ReadRequest, ReadDone>> early;
  {
    const MutexLock lock(mutex_);
    if (!is_early_) return;
    is_early_ = false;
    early = std::exchange(early_, {});
    ending_early_ = true;
    idle_.notify_all();
  }
  for (auto& [request, done] : early) read(std::move(request), std::move(done));
  const MutexLock lock(mutex_);
  ending_early_ = false;
  idle_.notify_all();
}

/// What lies on the disk: all of it the first time, then what others added.
void Engine::learn() {
  if (!claims_.is_open()) {
    // First that this process is there, then what others have written: so nothing is missed.
    const auto opened = claims_.open(cache_.disk(), store_);
    if (!opened) return health_.trouble(opened.error());
  }
  const auto learned = is_loaded_ ? cache_.refresh() : cache_.load();
  if (!learned) return health_.trouble(learned.error());
  is_loaded_ = true;
}

void Engine::write_tasks(std::vector<Task>& tasks) {
  std::vector<Item> items;
  items.reserve(tasks.size());
  for (Task& task : tasks) items.push_back(std::move(task.item));
  keep_items(items);
  const Nanos now = context_.clock->now();
  for (const Task& task : tasks)
    if (task.flight) drop_claim(task.flight);
  {
    const MutexLock lock(mutex_);
    for (const Task& task : tasks) {
      if (task.flight) others_.learn(now - task.flight->departed);
      finish(task);
    }
  }
  launch_parked();
}

void Engine::finish(const Task& task) {
  if (task.written) task.written->set_value();
  if (!task.flight) return;
  unwritten_ -= task.flight->answer->bytes.size();
  task.flight->answer.reset();
  forget(task.flight);
}

void Engine::keep_items(std::span<const Item> items) {
  std::uint64_t total = 0;
  for (const Item& item : items) total += item.bytes.size();
  if (!health_.usable()) {
    not_kept_ += total;
    return;
  }
  const auto left_out = cache_.append(items);
  if (!left_out) {
    not_kept_ += total;
    return health_.trouble(left_out.error());
  }
  health_.well();
  full_ = *left_out != 0;
  if (*left_out == 0) return;
  not_kept_ += *left_out;
  context_.notices->add(
      "keep-full",
      fmt::format("the cache in {} is full (its limit is {}, or what its volume "
                  "has room for); the rest is read from the origin each time",
                  cache_.describe(), human_bytes(static_cast<double>(cache_.limit()))));
}

// --- the watcher ---------------------------------------------------------------------------------

void Engine::watch(const std::stop_token& stop) {
  std::uint64_t seen = missed_;
  while (context_.clock->sleep_for(kTick, stop)) {
    rescue();
    cancel_stopped();
    if (is_early_ && is_late()) end_early();
    launch_parked();
    const std::uint64_t missed = missed_;
    if (missed == std::exchange(seen, missed)) continue;
    const MutexLock lock(mutex_);
    look_ = true;
    writable_.notify_one();
  }
}

/// What waits for a disk that does not answer goes to the origin.
void Engine::rescue() {
  const bool stuck = watch_->is_stuck(context_.clock->now() - options_.patience);
  if (stuck && !stuck_.exchange(true)) {
    const double seconds = std::chrono::duration<double>(options_.patience).count();
    health_.trouble(
        Error(Code::unavailable, fmt::format("no answer for {} s", seconds)).at(cache_.describe()));
  }
  if (!stuck) {
    stuck_ = false;
    return;
  }
  std::deque<Task> given_up;
  {
    const MutexLock lock(mutex_);
    given_up = std::exchange(to_write_, {});
    for (const Task& task : given_up) {
      not_kept_ += task.item.bytes.size();
      if (task.flight) drop_claim(task.flight);
      finish(task);
    }
    idle_.notify_all();
  }
  launch_undecided();
  for (DiskReadPtr& read : pool_.take_all()) {
    if (read->side) {
      read->side(Error(Code::unavailable, "the disk does not answer").at(cache_.describe()));
    } else {
      fly(read->id, std::move(read->request), std::move(read->done));
    }
  }
}

/// Reads that were told to stop do not wait for a disk that is slow to answer.
void Engine::cancel_stopped() {
  std::deque<std::pair<ReadRequest, ReadDone>> stopped;
  {
    const MutexLock lock(mutex_);
    std::erase_if(early_, [&stopped](auto& read) {
      const bool gone = read.first.stop.stop_requested();
      if (gone) stopped.push_back(std::move(read));
      return gone;
    });
  }
  for (auto& [request, done] : stopped)
    done(Error(Code::cancelled, "stopped").at(object_place(store_, request.key)));
  for (DiskReadPtr& read : pool_.take_stopped())
    answer(std::move(read), Error(Code::cancelled, "stopped"));
}

}  // namespace headrace::keep
