// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/object_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "headrace/base/random.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"
#include "headrace/storage/testing/slow_store.h"

namespace headrace::mount {
namespace {

using headrace::testing::Call;
using headrace::testing::FailingStore;
using headrace::testing::Fault;
using headrace::testing::SlowStore;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

std::string pattern(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

class ObjectReaderTest : public ::testing::Test {
 protected:
  std::string add(const std::string& key, std::size_t size) {
    std::string text = pattern(size, size);
    EXPECT_TRUE(put(store_, key, as_byte_span(text), {}).ok());
    return text;
  }
  void open(Store& store, const ReaderOptions& options = {}) {
    reader_.reset();
    auto made = Tree::make(store, context_);
    ASSERT_TRUE(made.ok());
    tree_ = *std::move(made);
    reader_ = std::make_unique<ObjectReader>(store, *tree_, context_, options);
  }
  NodeId id(const std::string& name) { return tree_->lookup(kRoot, name, {})->id; }
  Result<std::string> get(NodeId node, std::uint64_t offset, std::uint64_t length) {
    HEADRACE_TRY(const auto slices, reader_->read(node, offset, length, {}));
    std::string text;
    for (const Bytes& slice : slices) text += slice.text();
    return text;
  }

  Context context_;
  MemoryStore store_;
  FailingStore counting_{store_, [](const Call&) { return std::nullopt; }};
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<ObjectReader> reader_;
};

TEST_F(ObjectReaderTest, EveryRangeIsThatOfTheObject) {
  const std::string text = add("large", 9 * kMiB + 77);
  open(store_);
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t offset = random.below(text.size() + 10);
    const std::uint64_t length = random.below(kMiB);
    const auto got = get(id("large"), offset, length);
    ASSERT_TRUE(got.ok());
    ASSERT_EQ(*got, offset < text.size() ? text.substr(offset, length) : "") << offset;
  }
}

TEST_F(ObjectReaderTest, ASmallFileIsOneRequestHoweverItIsRead) {
  const std::string text = add("small", 110'000);
  open(counting_);
  std::string got;
  for (std::uint64_t at = 0; at < text.size(); at += 4096) got += *get(id("small"), at, 4096);
  EXPECT_EQ(got, text);
  EXPECT_EQ(counting_.calls(Call::Kind::read), 1U);
  EXPECT_EQ(reader_->budget().used(), 0U) << "read to its end, it is the kernel's";
}

TEST_F(ObjectReaderTest, ARunFetchesEachByteOnce) {
  const std::string text = add("large", 40 * kMiB);
  open(counting_);
  std::string got;
  for (std::uint64_t at = 0; at < text.size(); at += kMiB / 8)
    got += *get(id("large"), at, kMiB / 8);
  EXPECT_EQ(got, text);
  EXPECT_LE(counting_.calls(Call::Kind::read), 16U);
  EXPECT_GT(reader_->counts().hits, 300U);
  EXPECT_EQ(reader_->counts().dropped, 0U);
  EXPECT_EQ(reader_->budget().used(), 0U);
}

// Promise F6: Memory stays within the budget, whatever the number of open files.
TEST_F(ObjectReaderTest, HundredsOfFilesShareTheBudget) {
  constexpr int kFiles = 200;
  for (int i = 0; i < kFiles; ++i) add(fmt::format("{:03}", i), 3 * kMiB);
  constexpr std::uint64_t kBudget = 32 * kMiB;
  open(counting_, {.budget_bytes = kBudget});
  for (std::uint64_t at = 0; at < 3 * kMiB; at += kMiB / 4) {
    for (int i = 0; i < kFiles; ++i) {
      ASSERT_EQ(get(id(fmt::format("{:03}", i)), at, kMiB / 4)->size(), kMiB / 4);
    }
  }
  EXPECT_LE(reader_->budget().peak(), kBudget + kMiB) << "and the request of the one thread";
}

TEST_F(ObjectReaderTest, FilesReadInTheirOrderAreFetchedAhead) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.push_back(add(fmt::format("{:03}", i), 1000 + i));
  open(counting_);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(*get(id(fmt::format("{:03}", i)), 0, 4096), texts[i]);
  }
  EXPECT_EQ(counting_.calls(Call::Kind::read), 100U) << "none twice";
  EXPECT_GT(reader_->counts().fetched_ahead, 90U);
}

TEST_F(ObjectReaderTest, AFailureIsOfThisReadOnly) {
  const std::string text = add("small", 1000);
  FailingStore failing(
      store_, headrace::testing::fail_kth(Call::Kind::read, 0, {.code = Code::unavailable}));
  open(failing);
  EXPECT_EQ(get(id("small"), 0, 1000).error().code(), Code::unavailable);
  EXPECT_EQ(*get(id("small"), 0, 1000), text);
}

TEST_F(ObjectReaderTest, AStoreThatGivesTooLittleIsCorrupt) {
  add("small", 1000);
  FailingStore failing(
      store_, headrace::testing::fail_kth(Call::Kind::read, 0, {.kind = Fault::Kind::shorten}));
  open(failing);
  EXPECT_EQ(get(id("small"), 0, 1000).error().code(), Code::corrupt);
}

TEST_F(ObjectReaderTest, AReplacedObjectIsChanged) {
  add("small", 1000);
  open(store_);
  const NodeId node = id("small");
  add("small", 1001);
  EXPECT_EQ(get(node, 0, 1000).error().code(), Code::changed);
}

TEST_F(ObjectReaderTest, AWaitEndsWithItsStopAndTheReaderWithItsReads) {
  add("small", 1000);
  SlowStore slow(store_, real_clock(), std::chrono::hours(1));
  open(store_);
  const NodeId node = id("small");
  reader_ = std::make_unique<ObjectReader>(slow, *tree_, context_, ReaderOptions());
  std::stop_source stop;
  std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  EXPECT_EQ(reader_->read(node, 0, 1000, stop.get_token()).error().code(), Code::cancelled);
}

TEST_F(ObjectReaderTest, ManyThreadsReadTheSameFiles) {
  std::vector<std::string> texts;
  for (int i = 0; i < 8; ++i) {
    texts.push_back(add(std::to_string(i), (static_cast<std::size_t>(i) + 1) * kMiB + 5));
  }
  open(store_, {.budget_bytes = 8 * kMiB});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        Random random(t);
        for (int i = 0; i < 200; ++i) {
          const std::size_t file = random.below(8);
          const std::uint64_t offset = random.below(texts[file].size());
          const std::uint64_t length = 1 + random.below(kMiB);
          const auto got = get(id(std::to_string(file)), offset, length);
          if (!got || *got != texts[file].substr(offset, length)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace headrace::mount
