// SPDX-License-Identifier: Apache-2.0
// Streams are those of tests/data/vectors/mds: the same content, compressed by five libraries.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>

#include "headrace/base/sha256.h"
#include "headrace/base/unique_fd.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/records/unpack/unpacked_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace {
namespace {

using testing::make_piece_source;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/";
constexpr std::uint64_t kMost = 1U << 24U;

struct Case {
  std::string file;
  Codec codec;
  std::uint64_t bytes;  ///< inside
};
const std::vector<Case> kCases = {
    {"mds/comp_gz6/shard.00000.mds.gz", Codec::gzip, 55709},
    {"mds/comp_zstd/shard.00000.mds.zstd", Codec::zstd, 55709},
    {"mds/comp_bz25/shard.00000.mds.bz2", Codec::bzip2, 55710},
    {"mds/comp_br3/shard.00000.mds.br", Codec::brotli, 55709},
    {"mds/comp_snappy/shard.00000.mds.snappy", Codec::snappy, 55711},
    {"webdataset/comp.tar.xz", Codec::xz, 71680},
};

struct Read {
  std::string content;
  std::optional<Error> failure;
};

Read read_all(const Bytes& compressed, Codec codec, std::size_t piece = 1U << 20U,
              std::uint64_t most = kMost) {
  const auto source = make_piece_source(compressed, piece);
  const auto inside = make_unpacking_source(*source, codec, most);
  Read read;
  while (true) {
    const auto got = inside->next();
    if (!got) {
      read.failure = got.error();
      EXPECT_EQ(inside->next().error().to_string(), got.error().to_string());
      return read;
    }
    if (got->empty()) return read;
    read.content += got->text();
  }
}

TEST(Unpack, EveryCodecGivesWhatWasPutIn) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.file);
    const Bytes file = read_file(kVectors + one.file);
    const Read whole = read_all(file, one.codec);
    EXPECT_FALSE(whole.failure) << whole.failure->to_string();
    EXPECT_EQ(whole.content.size(), one.bytes);
    for (const std::size_t piece : {1U, 977U}) {
      const Read pieces = read_all(file, one.codec, piece);
      EXPECT_EQ(pieces.content, whole.content);
      EXPECT_FALSE(pieces.failure);
    }
  }
}

TEST(Unpack, CodecsWithAMagicAreKnownByIt) {
  for (const Case& one : kCases) {
    const auto found = codec_of(read_file(kVectors + one.file).span());
    if (one.codec == Codec::brotli || one.codec == Codec::snappy) {
      EXPECT_FALSE(found) << one.file;
    } else {
      EXPECT_EQ(found, one.codec) << one.file;
    }
  }
  EXPECT_FALSE(codec_of({}));
}

TEST(Unpack, ACutStreamGivesWhatCameBeforeAndSaysSo) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.file);
    const Bytes file = read_file(kVectors + one.file);
    const std::string whole = read_all(file, one.codec).content;
    for (const std::size_t length : {file.size() - 1, file.size() / 2, std::size_t{1}}) {
      const Read read = read_all(file.slice(0, length), one.codec);
      ASSERT_TRUE(read.failure) << length;
      EXPECT_EQ(read.failure->code(), Code::corrupt);
      EXPECT_TRUE(whole.starts_with(read.content));
    }
  }
}

TEST(Unpack, DamageIsAnErrorOrOtherBytesAndNeverMore) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.file);
    std::string file(read_file(kVectors + one.file).text());
    for (std::size_t at = 0; at < file.size(); at += 997) {
      file[at] ^= 0x10;
      const Read read = read_all(Bytes::copy_of(file), one.codec);
      EXPECT_LE(read.content.size(), kMost);
      file[at] ^= 0x10;
    }
  }
}

TEST(Unpack, MoreThanItMayHoldIsRefused) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.file);
    const Read read = read_all(read_file(kVectors + one.file), one.codec, 4096, one.bytes - 1);
    ASSERT_TRUE(read.failure);
    EXPECT_EQ(read.failure->code(), Code::exhausted);
  }
}

TEST(Unpack, StreamsBackToBackAreOne) {
  for (const Case& one : kCases) {
    if (one.codec == Codec::brotli || one.codec == Codec::snappy) continue;
    SCOPED_TRACE(one.file);
    const Bytes file = read_file(kVectors + one.file);
    const std::string twice = std::string(file.text()) + std::string(file.text());
    const Read read = read_all(Bytes::copy_of(twice), one.codec);
    EXPECT_FALSE(read.failure);
    EXPECT_EQ(read.content.size(), 2 * one.bytes);
  }
}

TEST(UnpackedStore, ReadsWhatIsInsideAndPassesTheRestThrough) {
  MemoryStore below;
  const Bytes file = read_file(kVectors + kCases[1].file);
  ASSERT_TRUE(put(below, "a.zstd", file.span(), {}));
  ASSERT_TRUE(put(below, "b", as_byte_span("plain"), {}));
  auto store = make_unpacked_store(below);
  ASSERT_TRUE(store);
  const auto object = below.head("a.zstd", {});
  const auto inside = (*store)->unpack(*object, Codec::zstd, kMost, {});
  ASSERT_TRUE(inside) << inside.error().to_string();
  EXPECT_EQ(inside->size, kCases[1].bytes);
  EXPECT_EQ(read_now(**store, {.key = "a.zstd"})->pin, object->pin);
  EXPECT_TRUE(inside->failure.empty());
  const std::string whole = read_all(file, Codec::zstd).content;
  EXPECT_EQ(read_now(**store, {.key = "a.zstd"})->bytes.text(), whole);
  EXPECT_EQ(read_now(**store, {.key = "a.zstd", .range = {50000, 77}})->bytes.text(),
            whole.substr(50000, 77));
  EXPECT_EQ(read_now(**store, {.key = "a.zstd", .range = {whole.size(), 1}}).error().code(),
            Code::invalid);
  EXPECT_EQ(read_now(**store, {.key = "b"})->bytes.text(), "plain");
  EXPECT_EQ((*store)->head("a.zstd", {})->size, whole.size());
  EXPECT_EQ((*store)->create("c", {}).error().code(), Code::invalid);
}

/// a.zstd, as an earlier job found it, is unpacked when it is read.
class UnpackLater : public ::testing::Test {
 protected:
  UnpackLater() {
    const Bytes file = read_file(kVectors + kCases[1].file);
    whole_ = read_all(file, Codec::zstd).content;
    EXPECT_TRUE(put(below_, "a.zstd", file.span(), {}));
    const auto before = make_unpacked_store(below_);
    inside_ = *(*before)->unpack(object(), Codec::zstd, kMost, {});
  }
  ObjectInfo object() { return *below_.head("a.zstd", {}); }
  std::unique_ptr<UnpackedStore> open() {
    auto store = *make_unpacked_store(below_);
    store->unpack_later(object(), Codec::zstd, inside_);
    return store;
  }

  MemoryStore below_;
  std::string whole_;
  Inside inside_;
};

TEST_F(UnpackLater, OnceWhenItIsFirstReadByHoweverMany) {
  const auto store = open();
  EXPECT_EQ(store->head("a.zstd", {})->size, whole_.size());
  EXPECT_EQ(store->unpacked_bytes(), 0U);
  std::vector<std::future<Result<ReadResult>>> answers;
  for (std::uint64_t at = 0; at + 100 < whole_.size(); at += 997) {
    auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
    answers.push_back(promise->get_future());
    store->read({.key = "a.zstd", .range = {at, 100}},
                [promise](Result<ReadResult> result) { promise->set_value(std::move(result)); });
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto result = answers[i].get();
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->bytes.text(), whole_.substr(i * 997, 100));
  }
  EXPECT_EQ(store->unpacked_bytes(), whole_.size());
}

TEST_F(UnpackLater, AnotherContentIsRefusedAndLookedAtAnewAtTheNextRead) {
  inside_.hash.low ^= 1U;
  const auto store = open();
  for (int i = 0; i < 2; ++i) {
    const auto result = read_now(*store, {.key = "a.zstd", .range = {0, 10}});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::corrupt);
    EXPECT_NE(result.error().to_string().find("a.zstd"), std::string::npos);
  }
}

TEST_F(UnpackLater, WhoeverIsStoppedDoesNotStopTheOthers) {
  const auto store = open();
  std::stop_source first;
  first.request_stop();
  std::promise<Result<ReadResult>> stopped;
  store->read({.key = "a.zstd", .range = {0, 10}, .stop = first.get_token()},
              [&stopped](Result<ReadResult> result) { stopped.set_value(std::move(result)); });
  const auto other = read_now(*store, {.key = "a.zstd", .range = {5, 10}});
  ASSERT_TRUE(other) << other.error().to_string();
  EXPECT_EQ(other->bytes.text(), whole_.substr(5, 10));
  EXPECT_EQ(stopped.get_future().get().error().code(), Code::cancelled);
}

TEST_F(UnpackLater, EveryReadIsAnsweredWhenTheStoreGoes) {
  std::atomic<int> answers = 0;
  {
    const auto store = open();
    for (int i = 0; i < 50; ++i)
      store->read({.key = "a.zstd", .range = {0, 10}}, [&](const auto& /*result*/) { ++answers; });
  }
  EXPECT_EQ(answers, 50);
}

/// Every scratch file of this process that holds something: they have no name.
int flip_a_bit_of_scratch(off_t at) {
  int flipped = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto file = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || !file.ends_with(" (deleted)")) continue;
    const UniqueFd fd(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    char byte = 0;
    if (!fd.valid() || ::pread(fd.get(), &byte, 1, at) != 1) continue;
    byte = static_cast<char>(byte ^ 4);
    flipped += ::pwrite(fd.get(), &byte, 1, at) == 1 ? 1 : 0;
  }
  return flipped;
}

TEST_F(UnpackLater, AScratchThatIsDamagedIsNoticedByAFreshReadAndFilledAnew) {
  const auto store = open();
  const auto read = [&](bool fresh) {
    const auto got = read_now(*store, {.key = "a.zstd", .range = {50'000, 100}, .fresh = fresh});
    EXPECT_TRUE(got) << got.error().to_string();
    return got && got->bytes.text() == whole_.substr(50'000, 100);
  };
  EXPECT_TRUE(read(false));
  EXPECT_TRUE(read(true));
  EXPECT_EQ(store->unpacked_bytes(), whole_.size()) << "it is what it was";
  ASSERT_GE(flip_a_bit_of_scratch(50'050), 1);
  EXPECT_FALSE(read(false)) << "the damage that the test made";
  EXPECT_TRUE(read(true));
  EXPECT_TRUE(read(false)) << "for all who read after it";
  EXPECT_EQ(store->unpacked_bytes(), 2 * whole_.size());
}

TEST(UnpackedStore, AStreamThatSeemsDamagedIsReadOnceMorePastTheCaches) {
  MemoryStore below;
  const Bytes file = read_file(kVectors + kCases[0].file);
  ASSERT_TRUE(put(below, "a.gz", file.span(), {}));
  testing::FailingStore once(below, testing::fail_kth(testing::Call::Kind::read, 0,
                                                      {.kind = testing::Fault::Kind::corrupt}));
  const auto store = *make_unpacked_store(once);
  const auto inside = store->unpack(*below.head("a.gz", {}), Codec::gzip, kMost, {});
  ASSERT_TRUE(inside) << inside.error().to_string();
  EXPECT_EQ(inside->failure, "");
  EXPECT_EQ(once.faults(), 1U);
  EXPECT_EQ(read_now(*store, {.key = "a.gz"})->bytes.text(), read_all(file, Codec::gzip).content);
}

TEST(UnpackedStore, LargeObjectsLieInManyPieces) {
  MemoryStore below;
  std::string content;
  for (int i = 0; i < 400'000; ++i) content += std::to_string(i) + '\n';  // 2.7 MB
  // Stored blocks of gzip need no compressor: a header, blocks of up to 65,535 bytes, a trailer.
  std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (std::size_t at = 0; at < content.size(); at += 65535) {
    const std::string part = content.substr(at, 65535);
    const auto size = static_cast<unsigned>(part.size());
    gzip += at + 65535 >= content.size() ? '\1' : '\0';
    for (const unsigned word : {size, ~size})
      gzip += {static_cast<char>(word & 0xffU), static_cast<char>(word >> 8U & 0xffU)};
    gzip += part;
  }
  gzip += "no check";  // 8 bytes: a trailer that is wrong
  ASSERT_TRUE(put(below, "x.gz", as_byte_span(gzip), {}));
  auto store = make_unpacked_store(below);
  const auto inside = (*store)->unpack(*below.head("x.gz", {}), Codec::gzip, kMost, {});
  ASSERT_TRUE(inside) << inside.error().to_string();
  EXPECT_EQ(inside->failure, "the gzip stream is damaged");
  ASSERT_LE(inside->size, content.size());
  ASSERT_GT(inside->size, content.size() - (1U << 20U) - 1);
  const std::uint64_t border = 1U << 20U;
  EXPECT_EQ(read_now(**store, {.key = "x.gz", .range = {border - 5, 10}})->bytes.text(),
            content.substr(border - 5, 10));
}

}  // namespace
}  // namespace headrace
