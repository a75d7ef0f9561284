// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/memory/memory_store.h"

#include <gtest/gtest.h>

#include "headrace/storage/testing/store_conformance.h"

namespace headrace {
namespace {

const bool kRegistered = testing::register_store_conformance(
    {.name = "memory", .make = [](const Context&) -> testing::StoreWorld::Made {
       return {nullptr, std::make_unique<MemoryStore>()};
     }});

TEST(MemoryStore, ASliceOutlivesTheStore) {
  Bytes kept;
  {
    MemoryStore store;
    ASSERT_TRUE(kRegistered);
    ASSERT_TRUE(put(store, "a", as_byte_span("0123456789"), {}).ok());
    const auto read = read_now(store, {.key = "a", .range = {2, 3}});
    ASSERT_TRUE(read.ok());
    kept = read->bytes;
  }
  EXPECT_EQ(kept.text(), "234");
}

}  // namespace
}  // namespace headrace
