// SPDX-License-Identifier: Apache-2.0
// What a hit costs beside a plain pread of the same bytes, and beside the local store: warm, so it
// is processor time that counts (column CPU: all threads of the process).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <semaphore>
#include <vector>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/local/local_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

constexpr int kObjects = 1000;
constexpr std::size_t kSize = 110'000;
constexpr int kInFlight = 64;

/// The same objects as files, and kept.
struct World {
  World() : origin(make_local_store(folder.string() + "/set", context)) {
    const std::string text = testing::pattern(1, kSize);
    for (int i = 0; i < kObjects; ++i) {
      keys.push_back(fmt::format("{:04}", i));
      pins.push_back(*put(*origin, keys.back(), as_byte_span(text), {}));
    }
    keep = *make_keep_store(*origin, {.dir = folder.string() + "/keep"}, context);
    read_all(*keep);
    keep->flush();
  }

  void read_all(Store& store) {
    std::counting_semaphore<kInFlight> room(kInFlight);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      room.acquire();
      store.read({.key = keys[i], .range = {0, kSize}, .pin = pins[i]},
                 [&room](const Result<ReadResult>& got) {
                   if (!got) std::abort();
                   room.release();
                 });
    }
    for (int i = 0; i < kInFlight; ++i) room.acquire();
  }

  testing::TemporaryFolder folder;
  Context context;
  std::vector<std::string> keys;
  std::vector<Pin> pins;
  std::unique_ptr<Store> origin;
  std::unique_ptr<KeepStore> keep;
};

World& world() {
  static auto* const made = new World;
  return *made;
}

void keep_hits(benchmark::State& state) {
  auto& w = world();
  for ([[maybe_unused]] auto _ : state) w.read_all(*w.keep);
  state.SetItemsProcessed(state.iterations() * kObjects);
}
BENCHMARK(keep_hits)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void local_store(benchmark::State& state) {
  auto& w = world();
  for ([[maybe_unused]] auto _ : state) w.read_all(*w.origin);
  state.SetItemsProcessed(state.iterations() * kObjects);
}
BENCHMARK(local_store)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void plain_pread(benchmark::State& state) {
  auto& w = world();
  for ([[maybe_unused]] auto _ : state) {
    for (const auto& key : w.keys) {
      const UniqueFd fd(::open((w.folder.string() + "/set/" + key).c_str(), O_RDONLY | O_CLOEXEC));
      Buffer buffer(kSize);
      if (::pread(fd.get(), buffer.data(), kSize, 0) != static_cast<ssize_t>(kSize)) std::abort();
      benchmark::DoNotOptimize(buffer.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * kObjects);
}
BENCHMARK(plain_pread)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
