// SPDX-License-Identifier: Apache-2.0
/// \file A node cache over an origin that counts and holds back, for the tests of the cache.
///
/// Not thread-safe, but for what the store under test does with it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::testing {

/// Counts the reads that reach the origin; they can be held back.
class Origin final : public ForwardingStore<> {
 public:
  Origin() : ForwardingStore(memory_) {}

  void read(ReadRequest request, ReadDone done) override {
    {
      const MutexLock lock(mutex_);
      ++reads;
      if (held_) {
        waiting_.emplace_back(std::move(request), std::move(done));
        return;
      }
    }
    memory_.read(std::move(request), std::move(done));
  }
  /// The stops of the reads that wait.
  std::vector<std::stop_token> waiting() {
    const MutexLock lock(mutex_);
    std::vector<std::stop_token> stops;
    for (const auto& [request, done] : waiting_) stops.push_back(request.stop);
    return stops;
  }
  /// From now on reads wait.
  void hold() {
    const MutexLock lock(mutex_);
    held_ = true;
  }
  void release() {
    std::vector<std::pair<ReadRequest, ReadDone>> released;
    {
      const MutexLock lock(mutex_);
      held_ = false;
      released.swap(waiting_);
    }
    for (auto& [request, done] : released) memory_.read(std::move(request), std::move(done));
  }
  std::atomic<int> reads = 0;

 private:
  MemoryStore memory_{"origin://set"};
  Mutex mutex_;
  bool held_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::pair<ReadRequest, ReadDone>> waiting_ HEADRACE_GUARDED_BY(mutex_);
};

class KeepStoreTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSize = 20'000;

  std::string dir() const { return folder_.string() + "/keep"; }
  std::filesystem::path segments() const { return dir() + "/v1"; }

  /// A machine that stands still for long makes no disk slow: whoever tests patience says so.
  std::unique_ptr<KeepStore> open(std::uint64_t limit = 1 << 30) {
    auto made = make_keep_store(
        origin_,
        {.dir = dir(), .limit_bytes = limit, .read_threads = 2, .patience = std::chrono::hours(24)},
        context_);
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? *std::move(made) : nullptr;
  }
  /// The same, and it knows what is kept.
  std::unique_ptr<KeepStore> open_and_wait() {
    auto store = open();
    store->flush();
    return store;
  }
  void fill_origin(int objects, std::size_t size = kSize) {
    for (int i = 0; i < objects; ++i) {
      const auto key = fmt::format("c/{:04}", i);
      pins_[key] = *put(origin_, key, as_byte_span(pattern(seed_of(key), size)), {});
    }
  }
  std::uint64_t seed_of(const std::string& key) const { return std::hash<std::string>()(key); }

  /// Reads all; gives how many came from the cache. Wrong bytes fail the test.
  int epoch(Store& store) {
    int hits = 0;
    for (const auto& [key, pin] : pins_) {
      const auto got = read_now(store, {.key = key, .pin = pin});
      if (!got) {
        ADD_FAILURE() << got.error().to_string();
        continue;
      }
      EXPECT_TRUE(got->bytes.text() == pattern(seed_of(key), pin.size)) << key;
      EXPECT_EQ(got->pin, pin);
      hits += got->from_cache ? 1 : 0;
    }
    return hits;
  }
  std::vector<std::filesystem::path> files(const std::string& extension) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(segments()))
      if (entry.path().extension() == extension) found.push_back(entry.path());
    return found;
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t total = 0;
    for (const auto& entry : std::filesystem::directory_iterator(segments())) {
      struct stat status {};
      if (::stat(entry.path().c_str(), &status) == 0)
        total += std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_blocks) * 512,
                                         static_cast<std::uint64_t>(status.st_size));
    }
    return total;
  }
  bool noticed(const std::string& kind) const {
    for (const auto& notice : context_.notices->all())
      if (notice.kind == kind) return true;
    return false;
  }
  static void flip(const std::filesystem::path& file, std::int64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 0x10));
  }

  TemporaryFolder folder_;
  Origin origin_;
  Context context_;
  std::map<std::string, Pin> pins_;
};

}  // namespace headrace::testing
