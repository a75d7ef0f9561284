// SPDX-License-Identifier: Apache-2.0
// A compressed set that is opened again with its index kept: what of it is read, and that samples
// and damage are the same.
#include <gtest/gtest.h>

#include <atomic>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"
#include "headrace/records/frames.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

class CountingStore final : public ForwardingStore<> {
 public:
  using ForwardingStore::ForwardingStore;
  void read(ReadRequest request, ReadDone done) override {
    const std::string key = request.key;
    below().read(std::move(request), [this, key, done = std::move(done)](auto result) {
      if (result && !key.ends_with(".json")) bytes += result->bytes.size();
      done(std::move(result));
    });
  }

  std::atomic<std::uint64_t> bytes{0};  ///< but for index.json, which every job reads
};

struct Opened {
  std::unique_ptr<Dataset> set;
  std::uint64_t bytes = 0;  ///< that opening read
};

class Reopen : public ::testing::Test {
 protected:
  void add(const std::string& file, const std::string& key) {
    const Bytes content = testing::read_file(HEADRACE_TEST_DATA "/vectors/" + file);
    ASSERT_TRUE(put(below_, key, content.span(), {}));
  }
  Opened open() {
    const std::uint64_t before = store_.bytes;
    auto set = open_dataset(store_, {}, {.side_store = &side_});
    EXPECT_TRUE(set) << set.error().to_string();
    return {.set = *std::move(set), .bytes = store_.bytes - before};
  }
  /// All samples, bad ones by what is wrong with them.
  std::vector<std::string> read(const Dataset& set) {
    std::vector<std::string> all;
    for (std::uint64_t id = 0; id < set.size(); ++id) {
      const Extent extent = set.locate(SampleId{id});
      const auto frame = read_now(frames_of(set, store_),
                                  {.key = extent.key, .range = extent.range, .pin = extent.pin});
      auto sample = frame ? set.parse(SampleId{id}, frame->bytes) : Result<Sample>(frame.error());
      all.push_back(sample ? std::string(sample->payload.text()) : sample.error().cause());
    }
    return all;
  }
  std::uint64_t stored_bytes(const std::string& suffix) {
    std::uint64_t bytes = 0;
    const auto objects = list_all(below_, "", {});
    for (const ObjectInfo& object : *objects)
      if (object.key.ends_with(suffix)) bytes += object.size;
    return bytes;
  }
  /// The first open reads all; the second as good as nothing, and reading it reads all once.
  void expect_nothing_is_read_until_it_is_needed(const std::string& suffix) {
    const Opened first = open();
    EXPECT_GE(first.bytes, stored_bytes(suffix));
    const Opened second = open();
    EXPECT_LE(second.bytes, kFirstBytes);  // they tell the format
    EXPECT_EQ(second.set->size(), first.set->size());
    EXPECT_EQ(second.set->fingerprint(), first.set->fingerprint());
    const std::uint64_t before = store_.bytes;
    const auto samples = read(*second.set);
    EXPECT_EQ(store_.bytes - before, stored_bytes(suffix));
    EXPECT_EQ(samples, read(*first.set));
    EXPECT_FALSE(samples.empty());
  }

  MemoryStore below_;
  CountingStore store_{below_};
  MemorySideStore side_;
};

TEST_F(Reopen, CompressedTarsAreNotReadAgain) {
  add("webdataset/comp.tar.gz", "a.tar.gz");
  add("webdataset/comp.tar.xz", "b.tar.xz");
  expect_nothing_is_read_until_it_is_needed("z");
}

TEST_F(Reopen, ACutTarHasTheSameDamage) {
  add("webdataset/damage_gz_truncated.tar", "cut.tar.gz");
  expect_nothing_is_read_until_it_is_needed("z");
  const auto damage = open().set->damage();
  ASSERT_FALSE(damage.empty());
  EXPECT_EQ(damage.back().damage.why, "the gzip stream ends too early");
}

TEST_F(Reopen, CompressedMdsShardsAreNotReadAgain) {
  add("mds/zstd/index.json", "index.json");
  for (const std::string number : {"0", "1", "2"}) {
    const std::string name = "shard.0000" + number + ".mds.zstd";
    add("mds/zstd/" + name, name);
  }
  expect_nothing_is_read_until_it_is_needed(".zstd");
}

TEST_F(Reopen, OnlyTheShardThatIsReadIsUnpacked) {
  add("webdataset/comp.tar.gz", "a.tar.gz");
  add("webdataset/comp.tar.gz", "b.tar.gz");
  open();
  const auto again = open();
  const Extent extent = again.set->locate(SampleId{0});
  const std::uint64_t before = store_.bytes;
  ASSERT_TRUE(read_now(frames_of(*again.set, store_),
                       {.key = extent.key, .range = extent.range, .pin = extent.pin}));
  EXPECT_EQ(store_.bytes - before, below_.head(extent.key, {})->size);
}

TEST_F(Reopen, AReplacedShardIsUnpackedAnew) {
  add("webdataset/comp.tar.gz", "a.tar.gz");
  open();
  add("webdataset/comp.tgz", "a.tar.gz");
  EXPECT_GE(open().bytes, stored_bytes("z"));
}

}  // namespace
}  // namespace headrace
