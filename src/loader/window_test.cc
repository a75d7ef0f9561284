// SPDX-License-Identifier: Apache-2.0
// The window by itself, as no whole job shows it.
#include "headrace/loader/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace headrace {
namespace {

// A rank without a share has empty batches only, in every epoch.
TEST(Window, AnEmptyBatchTakesAPlaceToo) {
  constexpr std::size_t kPlaces = 4;
  constexpr std::size_t kBatches = 300;
  Window window({}, {.depth = 1, .items = kPlaces, .requests = 1},
                [](std::size_t) -> Result<std::unique_ptr<OpenBatch>> {
                  return std::unique_ptr<OpenBatch>();
                });
  std::atomic<std::size_t> added = 0;
  std::jthread fetcher([&](const std::stop_token& stop) {
    while (added < kBatches && window.add(std::make_unique<Work>(), stop) != nullptr) ++added;
  });
  for (std::size_t popped = 0; popped < kBatches; ++popped) {
    while (added < std::min(kBatches, popped + kPlaces)) std::this_thread::yield();
    ASSERT_LE(added, popped + kPlaces) << "it runs ahead of who takes them";
    ASSERT_TRUE(window.pop({}).ok());
  }
}

}  // namespace
}  // namespace headrace
