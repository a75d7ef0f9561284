// SPDX-License-Identifier: Apache-2.0
// Parts of what the node cache keeps: checked by the caller's hashes, counted by what was read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>

#include "headrace/base/digest.h"
#include "headrace/base/random.h"
#include "headrace/storage/keep/keep_engine.h"
#include "headrace/storage/keep/shaped_disk.h"
#include "headrace/storage/keep/testing/keep_world.h"
#include "headrace/storage/keep/testing/sim_disk.h"
#include "headrace/storage/part_reader.h"

namespace headrace {
namespace {

using testing::KeepStoreTest;
using testing::pattern;

class KeepParts : public KeepStoreTest {
 protected:
  static constexpr std::uint64_t kBlock = 4096;

  /// The blocks with these numbers, of the range of `whole`.
  static std::vector<CheckedBlock> blocks(ByteSpan whole, std::span<const std::uint64_t> numbers) {
    std::vector<CheckedBlock> made;
    for (const std::uint64_t number : numbers) {
      const std::uint64_t at = number * kBlock;
      const std::uint64_t length = std::min(kBlock, whole.size() - at);
      made.push_back({at, length, hash_bytes(whole.subspan(at, length)).low});
    }
    return made;
  }
  Result<std::optional<Bytes>> parts(KeepStore& store, const std::string& key, ByteRange range,
                                     std::vector<CheckedBlock> wanted,
                                     const std::stop_token& stop = {}) {
    std::promise<Result<std::optional<Bytes>>> promise;
    auto* const reader = part_reader(store);
    EXPECT_NE(reader, nullptr);
    WantedParts enough{.blocks = std::move(wanted), .known = known_, .known_at = known_at_};
    reader->read_parts(
        {.key = key, .range = range, .pin = pins_.at(key), .stop = stop},
        std::make_shared<const WantedParts>(std::move(enough)),
        [&promise](Result<std::optional<Bytes>> got) { promise.set_value(std::move(got)); });
    return promise.get_future().get();
  }
  /// The store with everything on its disk.
  std::unique_ptr<KeepStore> filled(int objects, std::size_t size = kSize) {
    fill_origin(objects, size);
    auto store = open();
    epoch(*store);
    store->flush();
    return store;
  }
  Bytes known_;
  std::uint64_t known_at_ = 0;
  std::string content(const std::string& key) const {
    return pattern(seed_of(key), pins_.at(key).size);
  }
};

/// `got` holds these blocks of `whole`, and zeros elsewhere.
void expect_blocks(const Bytes& got, ByteSpan whole, std::span<const CheckedBlock> blocks) {
  std::vector<std::byte> want(whole.size());
  for (const CheckedBlock& block : blocks) {
    std::ranges::copy(whole.subspan(block.offset, block.length),
                      want.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  EXPECT_TRUE(std::ranges::equal(got.span(), want));
}

TEST_F(KeepParts, HoldTheBlocksThatWereAskedForAndZeros) {
  auto store = filled(3);
  const auto text = content("c/0001");
  const auto whole = as_byte_span(text);
  for (const std::vector<std::uint64_t>& numbers :
       {std::vector<std::uint64_t>{0}, {0, 2, 3}, {1, 4}, {4}, {0, 1, 2, 3, 4}}) {
    const auto wanted = blocks(whole, numbers);
    std::uint64_t bytes = 0;
    for (const CheckedBlock& block : wanted) bytes += block.length;
    const auto before = context_.metrics->get(Metric::bytes_cache);
    const auto got = parts(*store, "c/0001", {0, kSize}, wanted);
    ASSERT_TRUE(got.ok() && *got);
    expect_blocks(**got, whole, wanted);
    EXPECT_EQ(context_.metrics->get(Metric::bytes_cache) - before, bytes);
  }
  EXPECT_EQ(origin_.reads, 3);
}

TEST_F(KeepParts, OfARangeBeginWhereItBegins) {
  auto store = filled(1);
  const auto text = content("c/0000");
  const auto range = as_byte_span(text).subspan(777, 9000);
  const std::vector<std::uint64_t> numbers{1, 2};
  const auto wanted = blocks(range, numbers);
  const auto got = parts(*store, "c/0000", {777, 9000}, wanted);
  ASSERT_TRUE(got.ok() && *got);
  expect_blocks(**got, range, wanted);
}

TEST_F(KeepParts, StandBehindWhatIsKnown) {
  auto store = filled(1);
  known_ = Bytes::copy_of("what the caller has");
  known_at_ = 3000;
  const auto text = content("c/0000");
  const std::vector<std::uint64_t> numbers{2, 4};
  const auto wanted = blocks(as_byte_span(text), numbers);
  const auto before = context_.metrics->get(Metric::bytes_cache);
  const auto got = parts(*store, "c/0000", {0, kSize}, wanted);
  ASSERT_TRUE(got.ok() && *got);
  EXPECT_EQ((*got)->text().substr(2999, 21), std::string_view("\0what the caller has\0", 21));
  EXPECT_EQ((*got)->text().substr(2 * kBlock, kBlock), text.substr(2 * kBlock, kBlock));
  EXPECT_EQ(context_.metrics->get(Metric::bytes_cache) - before, kBlock + kSize - 4 * kBlock);
}

TEST_F(KeepParts, LieInAnyNumberOfPieces) {
  constexpr std::size_t kLarge = 700'001;  // pieces of 128 KiB
  auto store = filled(2, kLarge);
  const auto text = content("c/0001");
  const auto whole = as_byte_span(text);
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 0; number * kBlock < kLarge; ++number) {
      if (random.below(3) != 0) numbers.push_back(number);
    }
    const auto wanted = blocks(whole, numbers);
    const auto got = parts(*store, "c/0001", {0, kLarge}, wanted);
    ASSERT_TRUE(got.ok() && *got);
    expect_blocks(**got, whole, wanted);
  }
  // And in a range that begins inside a piece, by blocks of its own.
  const auto range = whole.subspan(100'000, 400'000);
  const std::vector<std::uint64_t> numbers{3, 5, 6, 7, 30, 31, 32, 97};
  const auto wanted = blocks(range, numbers);
  const auto got = parts(*store, "c/0001", {100'000, 400'000}, wanted);
  ASSERT_TRUE(got.ok() && *got);
  expect_blocks(**got, range, wanted);
}

TEST_F(KeepParts, OfWhatIsNotKeptAreNotThere) {
  fill_origin(1);
  auto store = open_and_wait();
  const auto text = content("c/0000");
  const std::vector<std::uint64_t> numbers{0};
  const auto got = parts(*store, "c/0000", {0, kSize}, blocks(as_byte_span(text), numbers));
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(*got);
  EXPECT_EQ(origin_.reads, 0) << "the caller reads the range then";
}

TEST_F(KeepParts, ThatAreToldToStopAreCancelled) {
  auto store = filled(1);
  std::stop_source stop;
  stop.request_stop();
  const auto text = content("c/0000");
  const std::vector<std::uint64_t> numbers{0};
  const auto got =
      parts(*store, "c/0000", {0, kSize}, blocks(as_byte_span(text), numbers), stop.get_token());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::cancelled);
}

TEST_F(KeepParts, ThatAreDamagedAreDroppedCountedAndComeFromTheOrigin) {
  auto store = filled(1);
  const auto text = content("c/0000");
  const auto whole = as_byte_span(text);
  flip(files(".data").at(0), 2 * kBlock + 5);  // the only object: its bytes begin at 0
  const std::vector<std::uint64_t> others{0, 1, 3};
  const auto beside = parts(*store, "c/0000", {0, kSize}, blocks(whole, others));
  ASSERT_TRUE(beside.ok() && *beside) << "what is not read is not looked at";
  expect_blocks(**beside, whole, blocks(whole, others));
  EXPECT_EQ(store->stats().damaged, 0U);

  const std::vector<std::uint64_t> numbers{1, 2};
  const auto got = parts(*store, "c/0000", {0, kSize}, blocks(whole, numbers));
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(*got);
  EXPECT_EQ(store->stats().damaged, 1U);
  EXPECT_TRUE(noticed("keep-damaged"));
  EXPECT_EQ(epoch(*store), 0) << "forgotten: read from the origin";
  EXPECT_EQ(origin_.reads, 2);
  store->flush();
  const auto again = parts(*store, "c/0000", {0, kSize}, blocks(whole, numbers));
  ASSERT_TRUE(again.ok() && *again) << "kept anew";
}

TEST_F(KeepParts, OfAFileThatWasCutAreDamageToo) {
  auto store = filled(1);
  std::filesystem::resize_file(files(".data").at(0), 6000);
  const auto text = content("c/0000");
  const std::vector<std::uint64_t> numbers{0, 4};
  const auto got = parts(*store, "c/0000", {0, kSize}, blocks(as_byte_span(text), numbers));
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(*got);
  EXPECT_EQ(store->stats().damaged, 1U);
  EXPECT_EQ(epoch(*store), 0);
}

TEST_F(KeepParts, ComeFromADiskThatHasNothingInMemory) {
  fill_origin(5);
  epoch(*open());
  const Medium medium{.name = "slow", .first_byte_median_ms = 1};
  auto made = make_keep_store(
      origin_, {.dir = dir(), .limit_bytes = 1 << 30, .read_threads = 2, .medium = medium},
      context_);
  ASSERT_TRUE(made.ok());
  (*made)->flush();
  for (const auto& [key, pin] : pins_) {
    const auto text = content(key);
    const std::vector<std::uint64_t> numbers{0, 1, 4};
    const auto wanted = blocks(as_byte_span(text), numbers);
    const auto got = parts(**made, key, {0, kSize}, wanted);
    ASSERT_TRUE(got.ok() && *got);
    expect_blocks(**got, as_byte_span(text), wanted);
  }
  EXPECT_EQ(epoch(**made), 5);
  EXPECT_EQ(origin_.reads, 5);
}

}  // namespace

namespace keep {
namespace {

using namespace std::chrono_literals;

TEST(ShapedDisk, TakesAsLongAsTheMediumAndHasNothingInMemory) {
  ManualClock clock;
  auto world = testing::SimWorld::make();
  const Medium medium{.name = "disk",
                      .first_byte_median_ms = 10,
                      .rate_total_MBps = 1,
                      .requests_per_second = 100,
                      .request_KiB = 1};
  auto disk = shape_disk(world->mount(1), medium, clock);
  auto file = *disk->open("s.data", OpenMode::create);
  ASSERT_TRUE(file->write_at(0, std::vector<std::byte>(5000)).ok());
  EXPECT_EQ(clock.now(), 0ns) << "writes do not wait";
  std::vector<std::byte> into(5000);
  EXPECT_EQ(*file->read_at_hand(0, into), 0U);
  // 10 ms to the first byte, 5 ms for 5,000 bytes at 1 MB a second.
  std::jthread reader([&] { EXPECT_EQ(*file->read_at(0, into), 5000U); });
  for (const auto wake : {10ms, 15ms}) {
    while (clock.sleepers() == 0 || clock.next_wake() != wake) std::this_thread::yield();
    clock.advance(wake - clock.now());
  }
  reader.join();
  // The first read was five requests of 1 KiB, which take 50 ms at 100 a second.
  std::jthread next([&] { EXPECT_EQ(*file->read_at(0, std::span(into).first(1000)), 1000U); });
  for (const auto wake : {60ms, 61ms}) {
    while (clock.sleepers() == 0 || clock.next_wake() != wake) std::this_thread::yield();
    clock.advance(wake - clock.now());
  }
}

}  // namespace
}  // namespace keep
}  // namespace headrace
