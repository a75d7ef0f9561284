// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/window.h"

#include <algorithm>
#include <utility>

namespace headrace {

Window::Window(Context context, const Limits& limits, MakeBatch make_batch)
    : context_(std::move(context)), limits_(limits), make_batch_(std::move(make_batch)) {}

Work* Window::add(std::unique_ptr<Work> work, const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (!failed_ && !works_.empty() && items_ + work->places() > limits_.items) {
    if (!lock.wait(room_, stop)) return nullptr;
  }
  if (failed_ || stop.stop_requested()) return nullptr;
  work->underway = work->awaited = work->items.size();
  items_ += work->places();
  works_.push_back(std::move(work));
  // An empty batch (a rank without a share in the last step) is whole at once.
  if (works_.back()->underway == 0 && works_.size() == 1) ready_.notify_all();
  return works_.back().get();
}

bool Window::try_start() {
  const MutexLock lock(mutex_);
  if (requests_ >= limits_.requests) return false;
  ++requests_;
  return true;
}

bool Window::start(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (requests_ >= limits_.requests) {
    if (!lock.wait(room_, stop)) return false;
  }
  if (stop.stop_requested()) return false;
  ++requests_;
  return true;
}

bool Window::wait_fetched(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (requests_ != 0) {
    if (!lock.wait(idle_, stop)) return false;
  }
  return !stop.stop_requested();
}

void Window::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  work_.notify_all();
}

void Window::start_again(Work& work) {
  const MutexLock lock(mutex_);
  ++requests_;
  ++work.awaited;
}

void Window::arrived(Work& work, std::size_t index, Result<Bytes> got) {
  const MutexLock lock(mutex_);
  work.items[index].got = std::move(got);
  work.fetched.push_back(index);
  --work.awaited;
  --requests_;
  work_.notify_one();
  room_.notify_one();
  if (requests_ == 0) idle_.notify_all();
}

std::optional<Window::Task> Window::take_now() {
  const std::size_t depth = std::min(limits_.depth, works_.size());
  for (std::size_t i = 0; i < depth; ++i) {
    Work& work = *works_[i];
    if (work.fetched.empty() || !has_memory(work)) continue;
    const std::size_t index = work.fetched.front();
    work.fetched.pop_front();
    return Task{.work = &work, .index = index, .pixels = work.batch->sample(index)};
  }
  return std::nullopt;
}

bool Window::has_memory(Work& work) {
  if (work.batch) return true;
  if (work.error) return false;
  auto batch = make_batch_(work.items.size());
  if (!batch) {
    fail_locked(work, std::move(batch).error());
    return false;
  }
  work.batch = *std::move(batch);
  return true;
}

/// What decode threads lack: bytes, if a batch that has its turn still misses some; else a
/// consumer that makes room.
Metric Window::why_waiting() const {
  const std::size_t depth = std::min(limits_.depth, works_.size());
  if (depth < limits_.depth) return Metric::wait_fetch_nanos;
  for (std::size_t i = 0; i < depth; ++i) {
    if (works_[i]->awaited != 0) return Metric::wait_fetch_nanos;
  }
  return Metric::wait_batch_nanos;
}

std::optional<Window::Task> Window::take(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return std::nullopt;
    if (auto task = take_now()) return task;
    const bool all_fetched = std::none_of(works_.begin(), works_.end(), [](const auto& work) {
      return work->awaited != 0 || !work->fetched.empty();
    });
    // A place that another thread decodes may yet come back for a second look.
    const bool over = closed_ && all_fetched;
    const Metric why = why_waiting();
    if (!over && why == Metric::wait_fetch_nanos && limits_.budget != nullptr)
      limits_.budget->widen();
    const Nanos before = context_.clock->now();
    if (!lock.wait(work_, stop)) return std::nullopt;
    if (!over) {
      context_.metrics->add(why,
                            static_cast<std::uint64_t>((context_.clock->now() - before).count()));
    }
  }
}

void Window::finish_locked(Work& work) {
  --work.underway;
  if (work.underway == 0 && !works_.empty() && works_.front().get() == &work) {
    ready_.notify_all();
  }
}

void Window::finish(Work& work, std::size_t index) {
  auto grant = std::move(work.items[index].grant);  // given back after our own lock
  const MutexLock lock(mutex_);
  finish_locked(work);
}

void Window::fail(Work& work, std::size_t index, Error error) {
  const MutexLock lock(mutex_);
  const Item& item = work.items[index];
  if (!work.error && item.damage && !item.slot.padding)
    work.bad = {.epoch = work.epoch, .position = item.slot.position, .damage = *item.damage};
  fail_locked(work, std::move(error));
  finish_locked(work);
}

void Window::fail_locked(Work& work, Error error) {
  if (!work.error) work.error = std::move(error);
  failed_ = true;
  ready_.notify_all();
  room_.notify_all();
}

Result<std::unique_ptr<Work>> Window::pop(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  consumer_waits_ = true;
  while (works_.empty() || (works_.front()->underway != 0 && !works_.front()->error)) {
    if (!lock.wait(ready_, stop)) {
      consumer_waits_ = false;
      return Error(Code::cancelled, "stopped while waiting for a batch");
    }
  }
  consumer_waits_ = false;
  if (works_.front()->error) return Error(*works_.front()->error);
  if (works_.front()->items.empty()) {
    HEADRACE_TRY(works_.front()->batch, make_batch_(0));
  }
  auto work = std::move(works_.front());
  works_.pop_front();
  items_ -= work->places();
  room_.notify_all();
  work_.notify_all();
  return work;
}

std::optional<FailedPlace> Window::failed_place() const {
  const MutexLock lock(mutex_);
  if (works_.empty() || !works_.front()->bad) return std::nullopt;
  return works_.front()->bad;
}

std::string Window::waits_for() const {
  const MutexLock lock(mutex_);
  if (!consumer_waits_) return "consumer";
  return works_.empty() || works_.front()->awaited != 0 ? "origin" : "decode";
}

void Window::wait_idle() {
  MutexLock lock(mutex_);
  while (requests_ != 0) lock.wait(idle_);
}

}  // namespace headrace
