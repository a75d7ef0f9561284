// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "headrace/storage/keep/engine.h"

namespace headrace::keep {
namespace {

constexpr std::chrono::milliseconds kSlice{50};  ///< of a wait, between looks at the stop
constexpr Nanos kLook = std::chrono::milliseconds(250);

}  // namespace

std::optional<Bytes> Engine::read_side(const Hash128& id, std::uint64_t offset,
                                       std::uint64_t length) {
  const auto parts = cache_.find(id, offset, length);
  if (!parts) return std::nullopt;
  // On the pool: the disk may hang, and who asks must not.
  auto promise = std::make_shared<std::promise<Result<Bytes>>>();
  auto future = promise->get_future();
  auto read = std::make_unique<DiskRead>();
  read->parts = *parts;
  read->side = [promise](Result<Bytes> bytes) { promise->set_value(std::move(bytes)); };
  pool_.push(std::move(read));
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  while (future.wait_for(kSlice) != std::future_status::ready) {
    if (stopped() || std::chrono::steady_clock::now() > until) return std::nullopt;
  }
  auto bytes = future.get();
  if (bytes) return *std::move(bytes);
  read_failed(bytes.error());
  return std::nullopt;
}

void Engine::wait_for_the_start() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  while (is_early_ && !stopped() && std::chrono::steady_clock::now() < until) {
    std::ignore = lock.wait_until(idle_, std::chrono::steady_clock::now() + kSlice);
  }
}

Result<std::optional<Bytes>> Engine::get(const SideKey& key) {
  const Hash128 id = side_id(key);
  wait_for_the_start();
  if (!usable()) return std::optional<Bytes>();
  auto start = read_side(id, 0, sizeof(SideHeader));
  if (!start && !claims_.is_alone()) {
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
  // Losing derived bytes costs time, and so does waiting longer.
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  while (done.wait_for(kSlice) != std::future_status::ready) {
    if (stopped() || std::chrono::steady_clock::now() > until) break;
  }
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

/// Follows others' logs, on the writer's thread, and waits for that a while. Not for each of many
/// that ask.
void Engine::look_around() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  if (context_.clock->now() - looked_at_ < kLook && looks_ != 0) return;
  looked_at_ = context_.clock->now();
  const std::uint64_t before = looks_;
  look_ = true;
  writable_.notify_one();
  while (looks_ == before && !stopped() && std::chrono::steady_clock::now() < until) {
    std::ignore = lock.wait_until(idle_, std::chrono::steady_clock::now() + kSlice);
  }
}

}  // namespace headrace::keep
