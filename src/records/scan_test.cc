// SPDX-License-Identifier: Apache-2.0
// A bit that memory or a page cache flipped makes no index that calls a sound record damaged.
#include "headrace/records/scan.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "headrace/records/dataset.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

/// Every read of the byte at `at` has it wrong, unless it goes past the caches.
class BadCache final : public ForwardingStore<> {
 public:
  BadCache(Store& below, std::uint64_t at) : ForwardingStore(below), at_(at) {}

  void read(ReadRequest request, ReadDone done) override {
    const ByteRange range = request.range;
    const bool fresh = request.fresh;
    below().read(std::move(request), [this, range, fresh, done = std::move(done)](auto got) {
      if (got && !fresh && at_ >= range.offset && at_ - range.offset < got->bytes.size()) {
        std::string text(got->bytes.text());
        text[at_ - range.offset] ^= 4;
        got->bytes = Bytes::copy_of(text);
      }
      done(std::move(got));
    });
  }

 private:
  const std::uint64_t at_;
};

std::uint64_t count_of(const Context& context, const std::string& kind) {
  for (const auto& notice : context.notices->all())
    if (notice.kind == kind) return notice.count;
  return 0;
}

TEST(Scan, WhatLooksDamagedIsReadOnceMorePastTheCaches) {
  // A place in a record's head; and one anywhere in a stream that is compressed as a whole.
  const std::map<std::string, std::uint64_t> files = {
      {"mxnet/damage_base.rec", 0},
      {"tfrecord/damage_base.tfrecord", 0},
      {"webdataset/damage_base.tar", 0},
      {"tfrecord/compressed.gzip.tfrecord", 5000},
  };
  for (const auto& [file, place] : files) {
    SCOPED_TRACE(file);
    MemoryStore store;
    const std::string key = file.substr(file.rfind('/') + 1);
    const Bytes content = testing::read_file(HEADRACE_TEST_DATA "/vectors/" + file);
    ASSERT_TRUE(put(store, key, content.span(), {}));
    const auto sound = open_dataset(store, {}, {});
    ASSERT_TRUE(sound) << sound.error().to_string();
    ASSERT_TRUE((*sound)->damage().empty());
    const std::uint64_t at = place != 0 ? place : (*sound)->locate(SampleId{3}).range.offset + 2;

    BadCache once(store, at);
    MemorySideStore indexes;
    const Context context;
    const auto set = open_dataset(once, context, {.side_store = &indexes});
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_TRUE((*set)->damage().empty());
    EXPECT_EQ((*set)->fingerprint(), (*sound)->fingerprint());
    EXPECT_EQ(count_of(context, "read-again"), 1U);
    EXPECT_EQ(count_of(context, "damage"), 0U);
    const auto kept = open_dataset(store, {}, {.side_store = &indexes});
    EXPECT_EQ((*kept)->index_source(), "side-store");
    EXPECT_TRUE((*kept)->damage().empty());
  }
}

TEST(Scan, WhatIsDamagedStaysSo) {
  for (const char* file : {"mxnet/damage_bad_magic.rec", "tfrecord/damage_length_bit.tfrecord",
                           "webdataset/damage_bad_checksum.tar"}) {
    SCOPED_TRACE(file);
    MemoryStore store;
    ASSERT_TRUE(put(store, "x",
                    testing::read_file(HEADRACE_TEST_DATA "/vectors/" + std::string(file)).span(),
                    {}));
    const Context context;
    const auto set = open_dataset(store, context, {});
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_EQ((*set)->damage().size(), 1U);
    EXPECT_EQ(count_of(context, "read-again"), 0U);
    EXPECT_EQ(count_of(context, "damage"), 1U);
  }
}

}  // namespace
}  // namespace headrace
