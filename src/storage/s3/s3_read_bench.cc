// SPDX-License-Identifier: Apache-2.0
// Reads from a running S3 server: eval "$(scripts/s3-server start DIR)" first. Processor time is
// of this process alone, all its threads.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <latch>
#include <semaphore>
#include <vector>

#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace {
namespace {

std::unique_ptr<Store> open(benchmark::State& state, const Context& context) {
  const char* bucket = std::getenv("HEADRACE_TEST_S3_BUCKET");
  if (bucket == nullptr) {
    state.SkipWithError("no server: eval \"$(scripts/s3-server start DIR)\"");
    return nullptr;
  }
  auto store = make_s3_store(bucket, "bench/", context);
  if (!store) {
    state.SkipWithError(store.error().to_string().c_str());
    return nullptr;
  }
  return *std::move(store);
}

/// Pictures of 110 KB, `in flight` at once.
void small_objects(benchmark::State& state) {
  constexpr std::int64_t kObjects = 500;
  constexpr std::int64_t kSize = 110'000;
  Context context;
  const auto store = open(state, context);
  if (store == nullptr) return;
  std::vector<Pin> pins;
  for (std::uint64_t i = 0; i < kObjects; ++i) {
    const std::string key = fmt::format("small/{}", i);
    auto pin = put(*store, key, as_byte_span(testing::pattern(i, kSize)), {});
    if (!pin) return state.SkipWithError(pin.error().to_string().c_str());
    pins.push_back(*pin);
  }
  const auto in_flight = static_cast<std::ptrdiff_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    std::counting_semaphore<> slots(in_flight);
    std::latch all(kObjects);
    std::atomic<int> failed{0};
    for (std::size_t i = 0; i < kObjects; ++i) {
      slots.acquire();
      store->read({.key = fmt::format("small/{}", i), .pin = pins[i]},
                  [&](const Result<ReadResult>& result) {
                    if (!result.ok()) ++failed;
                    slots.release();
                    all.count_down();
                  });
    }
    all.wait();
    if (failed != 0) return state.SkipWithError("reads failed");
  }
  state.SetItemsProcessed(state.iterations() * kObjects);
  state.SetBytesProcessed(state.iterations() * kObjects * kSize);
}
BENCHMARK(small_objects)
    ->Arg(1)
    ->Arg(16)
    ->Arg(64)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

/// One large object, whole.
void large_object(benchmark::State& state) {
  constexpr std::size_t kSize = std::size_t{256} << 20U;
  Context context;
  const auto store = open(state, context);
  if (store == nullptr) return;
  const auto pin = put(*store, "large", as_byte_span(testing::pattern(1, kSize)), {});
  if (!pin) return state.SkipWithError(pin.error().to_string().c_str());
  for ([[maybe_unused]] auto _ : state) {
    const auto read = read_now(*store, {.key = "large", .pin = *pin});
    if (!read) return state.SkipWithError(read.error().to_string().c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSize));
}
BENCHMARK(large_object)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace
