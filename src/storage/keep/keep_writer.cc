// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headrace/storage/keep/engine.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWriteAtOnce = std::uint64_t{16} << 20U;
constexpr Nanos kTick = 250ms;  ///< of the watcher; also how often others' logs are followed

}  // namespace

// --- derived bytes -------------------------------------------------------------------------------

std::optional<Bytes> Engine::read_side(const Hash128& id, std::uint64_t offset,
                                       std::uint64_t length) {
  const auto parts = cache_.find(id, offset, length);
  if (!parts) return std::nullopt;
  auto bytes = cache_.read(*parts);
  if (bytes) return *std::move(bytes);
  read_failed(bytes.error());
  return std::nullopt;
}

void Engine::wait_for_the_start() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  while (is_early_ && lock.wait_until(idle_, until)) {
  }
}

Result<std::optional<Bytes>> Engine::get(const SideKey& key) {
  const Hash128 id = side_id(key);
  wait_for_the_start();
  if (!usable()) return std::optional<Bytes>();
  auto start = read_side(id, 0, sizeof(SideHeader));
  if (!start) {
    look_around();  // another process may have made it
    start = read_side(id, 0, sizeof(SideHeader));
  }
  if (!start) return std::optional<Bytes>();
  SideHeader header;
  std::memcpy(&header, start->data(), sizeof header);
  if (header.length == 0) return std::optional<Bytes>(Bytes());
  auto bytes = read_side(id, sizeof header, header.length);
  if (!bytes || hash_bytes(bytes->span()) != header.hash) return std::optional<Bytes>();
  return bytes;
}

Result<void> Engine::put(const SideKey& key, ByteSpan bytes) {
  wait_for_the_start();
  if (!usable()) return {};
  const SideHeader header{.length = bytes.size(), .hash = hash_bytes(bytes)};
  Buffer whole(sizeof header + bytes.size());
  std::memcpy(whole.data(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(whole.data() + sizeof header, bytes.data(), bytes.size());
  const std::size_t size = whole.size();
  const Hash128 id = side_id(key);
  drop_side(id);  // what was put before, of whatever length
  auto written = std::make_shared<std::promise<void>>();
  auto done = written->get_future();
  {
    const MutexLock lock(mutex_);
    to_write_.push_back({.item = {.kind = EntryKind::side,
                                  .object = id,
                                  .name = key.kind + " " + key.object,
                                  .bytes = std::move(whole).freeze(size)},
                         .written = std::move(written)});
    writable_.notify_one();
  }
  std::ignore =
      done.wait_for(options_.patience);  // losing derived bytes costs time, waiting longer as well
  return {};
}

void Engine::drop_side(const Hash128& id) {
  for (std::uint64_t offset = 0;;) {
    const auto parts = cache_.find(id, offset, 1);
    if (!parts) return;
    cache_.drop(*parts);
    offset = parts->front().piece.offset + parts->front().piece.length;
  }
}

/// Follows others' logs, on the writer's thread, and waits for that a while.
void Engine::look_around() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  const std::uint64_t before = looks_;
  look_ = true;
  writable_.notify_one();
  while (looks_ == before && lock.wait_until(idle_, until)) {
  }
}

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
      writing_since_ = context_.clock->now();
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
  const auto learned = is_loaded_ ? cache_.refresh() : cache_.load();
  if (!learned) return health_.trouble(learned.error());
  is_loaded_ = true;
}

void Engine::write_tasks(std::vector<Task>& tasks) {
  std::vector<Item> items;
  items.reserve(tasks.size());
  for (Task& task : tasks) items.push_back(std::move(task.item));
  keep_items(items);
  {
    const MutexLock lock(mutex_);
    for (const Task& task : tasks) finish(task);
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
  if (*left_out == 0) return;
  not_kept_ += *left_out;
  context_.notices->add("keep-full",
                        fmt::format("the cache in {} is full (its limit is {:.1f} GB, or what its "
                                    "volume has room for); the rest is read "
                                    "from the origin each time",
                                    cache_.describe(), static_cast<double>(cache_.limit()) / 1e9));
}

// --- the watcher ---------------------------------------------------------------------------------

void Engine::watch(const std::stop_token& stop) {
  std::uint64_t seen = context_.metrics->get(Metric::cache_misses);
  while (context_.clock->sleep_for(kTick, stop)) {
    rescue();
    if (is_early_ && is_late()) end_early();
    launch_parked();
    const std::uint64_t misses = context_.metrics->get(Metric::cache_misses);
    if (misses == std::exchange(seen, misses)) continue;
    const MutexLock lock(mutex_);
    look_ = true;
    writable_.notify_one();
  }
}

/// What waits for a disk that does not answer goes to the origin.
void Engine::rescue() {
  const Nanos since = context_.clock->now() - options_.patience;
  std::deque<Task> given_up;
  bool stuck = pool_->is_stuck(since);
  {
    const MutexLock lock(mutex_);
    stuck = stuck || (writing_ && writing_since_ < since);
    if (!stuck) return;
    given_up = std::exchange(to_write_, {});
    for (const Task& task : given_up) {
      not_kept_ += task.item.bytes.size();
      finish(task);
    }
  }
  const double seconds = std::chrono::duration<double>(options_.patience).count();
  health_.trouble(
      Error(Code::unavailable, fmt::format("no answer for {} s", seconds)).at(cache_.describe()));
  for (DiskReadPtr& read : pool_->take_back(since)) {
    context_.metrics->add(Metric::cache_misses, 1);
    fly(read->id, read->place, std::move(read->request), std::move(read->done));
  }
}

}  // namespace headrace::keep
