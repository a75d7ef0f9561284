// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/tfrecord.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "headrace/records/inflate.h"
#include "headrace/records/scan.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"
#include "headrace/records/tfrecord/walk.h"
#include "headrace/records/zlib_call.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/tfrecord/";

void add(Store& store, const std::string& key, ByteSpan content) {
  ASSERT_TRUE(put(store, key, content, {}));
}

void add_vector(Store& store, const std::string& file) {
  add(store, file, read_file(kVectors + file).span());
}

std::vector<std::byte> example_of(float label, std::string_view picture) {
  std::vector<std::byte> example;
  tfrecord::append_example(std::span(&label, 1), as_byte_span(picture), "a.jpg", example);
  return example;
}

/// Records with labels 0, 1, …; pictures of `bytes` that do not compress.
std::vector<std::byte> records(std::size_t count, std::size_t bytes) {
  std::mt19937 random(2);  // NOLINT(cert-msc51-cpp): the same bytes each time
  std::vector<std::byte> file;
  for (std::size_t i = 0; i < count; ++i) {
    std::string picture(bytes, '\0');
    for (char& c : picture) c = static_cast<char>(random());
    EXPECT_TRUE(tfrecord::append_frame(example_of(static_cast<float>(i), picture), file));
  }
  return file;
}

std::vector<std::byte> compressed(ByteSpan content, Compression compression, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, level, Z_DEFLATED, zlib_call::window_bits(compression), 8,
                           Z_DEFAULT_STRATEGY),
            Z_OK);
  std::vector<std::byte> out(::deflateBound(&stream, content.size()) + 64);
  zlib_call::set_input(stream, content);
  zlib_call::set_output(stream, out);
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

Result<Bytes> frame(Store& store, const Dataset& set, std::uint64_t id) {
  const Extent extent = set.locate(SampleId{id});
  EXPECT_EQ(extent.range.length, set.frame_bytes(SampleId{id}));
  HEADRACE_TRY(auto read, read_now(store, {.key = extent.key, .range = extent.range}));
  return std::move(read.bytes);
}

Result<Sample> sample(Store& store, const Dataset& set, std::uint64_t id) {
  HEADRACE_TRY(const auto bytes, frame(store, set, id));
  return set.parse(SampleId{id}, bytes);
}

std::map<std::string, std::string> notices(const Context& context) {
  std::map<std::string, std::string> texts;
  for (const auto& notice : context.notices->all()) texts[notice.kind] = notice.text;
  return texts;
}

std::vector<float> labels(Store& store, const Dataset& set) {
  std::vector<float> all;
  for (std::uint64_t id = 0; id < set.size(); ++id) {
    const auto one = sample(store, set, id);
    EXPECT_TRUE(one) << one.error().to_string();
    if (one) all.push_back(one->labels.at(0));
  }
  return all;
}

TEST(Tfrecord, ShardsWithoutASuffixAreFoundByContent) {
  MemoryStore store;
  add_vector(store, "train-00001-of-00002");
  add_vector(store, "train-00000-of-00002");
  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "tfrecord");
  EXPECT_EQ((*set)->size(), 12U);
  EXPECT_EQ((*set)->name(SampleId{7}), "train-00001-of-00002#1 @ 48359");
}

TEST(Tfrecord, ANameThatSaysGzDoesNotMakeItCompressed) {
  MemoryStore store;
  add_vector(store, "plain_named.gz");
  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "tfrecord");
  EXPECT_EQ((*set)->size(), 3U);
}

TEST(Tfrecord, AMissingShardIsSaid) {
  MemoryStore store;
  add(store, "readme.txt", as_byte_span("x"));
  add_vector(store, "train-00001-of-00002");
  const Context context;
  ASSERT_TRUE(open_dataset(store, context, {}));
  EXPECT_THAT(notices(context)["shards-missing"], HasSubstr("number 0 is not"));
}

// ImageNet's converters count classes from 1; their labels come out counted from 0.
TEST(Tfrecord, LabelsThatCountFromOneAreToldByTheirNeighbours) {
  MemoryStore store;
  add_vector(store, "train-00000-of-00002");
  const Context context;
  const auto set = open_dataset(store, context, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ(sample(store, **set, 0)->labels, std::vector<float>{96});  // c096_gravel.JPEG
  EXPECT_THAT(notices(context)["label-base"], HasSubstr("--label-base 0"));
  EXPECT_EQ((*set)->raw(SampleId{0}, *frame(store, **set, 0))->labels, std::vector<float>{97});

  const auto as_stored = open_dataset(store, {}, {.label_base = LabelBase::zero});
  EXPECT_EQ(sample(store, **as_stored, 0)->labels, std::vector<float>{97});
  EXPECT_NE((*as_stored)->fingerprint(), (*set)->fingerprint());
}

TEST(Tfrecord, LabelsThatCountFromZeroStay) {
  MemoryStore store;
  add_vector(store, "zero_based-00000-of-00001");
  const Context context;
  const auto set = open_dataset(store, context, {});
  EXPECT_EQ(sample(store, **set, 0)->labels, std::vector<float>{39});  // c039_espresso.JPEG
  EXPECT_FALSE(notices(context).contains("label-base"));
}

TEST(Tfrecord, LabelZeroIsNoClassWhereTheyCountFromOne) {
  MemoryStore store;
  add(store, "x.tfrecord", records(2, 10));
  const auto set = open_dataset(store, {}, {.label_base = LabelBase::one});
  EXPECT_THAT(sample(store, **set, 0).error().to_string(), HasSubstr("--label-base 0"));
  EXPECT_EQ(sample(store, **set, 1)->labels, std::vector<float>{0});
}

// What is legal as a record and ambiguous as a sample is a bad sample that says why.
TEST(Tfrecord, OddExamplesAreRecordsAndSomeAreSamples) {
  MemoryStore store;
  add_vector(store, "odd_examples.tfrecord");
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->size(), 19U);
  EXPECT_TRUE((*set)->damage().empty());
  EXPECT_EQ(sample(store, **set, 0)->labels, std::vector<float>{7});  // a float list
  EXPECT_EQ(sample(store, **set, 1)->labels, std::vector<float>{7});  // a decimal string
  EXPECT_THAT(sample(store, **set, 2).error().to_string(), HasSubstr("--label-key"));
  EXPECT_THAT(sample(store, **set, 3).error().cause(), HasSubstr("holds no label"));
  EXPECT_THAT(sample(store, **set, 4)->labels, ElementsAre(3, 1, 2));
  EXPECT_THAT(sample(store, **set, 5).error().cause(), HasSubstr("2 values"));
  for (std::uint64_t id = 6; id < 19; ++id) {
    EXPECT_THAT(sample(store, **set, id).error().cause(), HasSubstr("no picture")) << id;
    EXPECT_TRUE((*set)->raw(SampleId{id}, *frame(store, **set, id)));
  }
}

TEST(Tfrecord, OtherNamesAreAnOption) {
  MemoryStore store;
  add_vector(store, "odd_examples.tfrecord");
  const auto set = open_dataset(store, {}, {.image_key = "bild/größe", .label_key = "a"});
  EXPECT_THAT(sample(store, **set, 15).error().cause(), HasSubstr("no label \"a\""));
}

TEST(Tfrecord, ALabelThatFloat32DoesNotHoldIsABadSample) {
  const std::vector<std::int64_t> exact = {0, -5, 16777216, 1LL << 40};
  tfrecord::Example example;
  example["l"] = exact;
  EXPECT_EQ(tfrecord::labels_of(example, "l")->at(3), 0x1p40F);
  for (const std::int64_t label : {std::int64_t{16777217}, std::int64_t{INT64_MAX}}) {
    example["l"] = tfrecord::Int64List{label};
    EXPECT_THAT(tfrecord::labels_of(example, "l").error().cause(), HasSubstr("float32"));
  }
}

TEST(Tfrecord, ADataBitIsFoundWhenItIsRead) {
  MemoryStore store;
  add_vector(store, "damage_data_bit.tfrecord");
  const auto set = open_dataset(store, {}, {});
  EXPECT_TRUE((*set)->damage().empty());  // what memory did to data is kept in no index
  EXPECT_EQ(sample(store, **set, 3).error().code(), Code::corrupt);
  EXPECT_THAT(sample(store, **set, 3).error().to_string(), HasSubstr("#3 @ 64376"));
  EXPECT_TRUE(sample(store, **set, 4));
}

TEST(Tfrecord, DamagedHeadsAreSamplesOfTheirOwn) {
  MemoryStore store;
  add_vector(store, "damage_header_zeroed.tfrecord");
  const Context context;
  const auto set = open_dataset(store, context, {});
  ASSERT_EQ((*set)->size(), 6U);
  ASSERT_EQ((*set)->damage().size(), 1U);
  EXPECT_EQ((*set)->damage()[0].damage.begin, 48761U);
  EXPECT_EQ(sample(store, **set, 2).error().code(), Code::corrupt);
  EXPECT_TRUE(sample(store, **set, 3));
  EXPECT_TRUE(notices(context).contains("damage"));
}

// Cut off inside a record, then another file behind it: its records are not lost.
TEST(Tfrecord, RecordsBehindACutAreFound) {
  const auto whole = records(4, 5000);
  std::vector<std::byte> file(whole.begin(), whole.begin() + 2 * 5100);
  file.insert(file.end(), whole.begin(), whole.end());
  MemoryStore store;
  add(store, "x.tfrecord", file);
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->damage().size(), 1U);
  EXPECT_EQ((*set)->damage()[0].damage.end, 2 * 5100U);
  EXPECT_EQ((*set)->size(), 6U);
}

TEST(Tfrecord, StretchesDoNotMatter) {
  const Bytes file = read_file(kVectors + "damage_header_zeroed.tfrecord");
  MemoryStore store;
  add(store, "x", file.span());
  const auto info = store.head("x", {});
  const auto whole = scan(store, *info, tfrecord::kFraming, {.threads = 1}, {});
  for (const std::uint64_t stretch : {4000U, 10000U, 64000U}) {
    const auto parts =
        scan(store, *info, tfrecord::kFraming, {.threads = 4, .stretch_bytes = stretch}, {});
    EXPECT_EQ(parts->to_bytes(), whole->to_bytes()) << stretch;
  }
}

// From S3 each look is a round trip.
TEST(Tfrecord, ShardsWhoseIndexIsKeptAreNotLookedInto) {
  std::array<std::uint64_t, 2> reads{};
  for (const int shards : {1, 12}) {
    MemoryStore memory;
    for (int i = 0; i < shards; ++i)
      add(memory, fmt::format("{:02}.tfrecord", i), records(3, 1000));
    MemorySideStore kept;
    ASSERT_TRUE(open_dataset(memory, {}, {.side_store = &kept}));
    testing::FailingStore counting(
        memory, [](const testing::Call&) { return std::optional<testing::Fault>(); });
    const auto set = open_dataset(counting, {}, {.side_store = &kept});
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_EQ((*set)->index_source(), "side-store");
    reads[shards == 1 ? 0 : 1] = counting.calls(testing::Call::Kind::read);
  }
  EXPECT_EQ(reads[0], reads[1]);
}

class CompressedTfrecord : public ::testing::TestWithParam<Compression> {};

INSTANTIATE_TEST_SUITE_P(Each, CompressedTfrecord,
                         ::testing::Values(Compression::gzip, Compression::zlib),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Several points, windows that are used (text between the pictures), and any order.
TEST_P(CompressedTfrecord, RecordsAreReadInAnyOrder) {
  const auto plain = records(60, 100000);
  MemoryStore store;
  add(store, "x.tfrecord", compressed(plain, GetParam()));
  add(store, "y.tfrecord", plain);
  const Context context;
  const auto set = open_dataset(store, context, {});
  ASSERT_TRUE(set) << set.error().to_string();
  ASSERT_EQ((*set)->size(), 120U);
  EXPECT_THAT(notices(context)["compressed"], HasSubstr("1 shards"));
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t id = i * 37 % 60;
    const auto one = sample(store, **set, id);
    const auto same = sample(store, **set, id + 60);
    ASSERT_TRUE(one) << one.error().to_string();
    EXPECT_EQ(one->labels, std::vector<float>{static_cast<float>(id)});
    EXPECT_EQ(one->payload.text(), same->payload.text());
    EXPECT_EQ((*set)->stream_range(SampleId{id}), (*set)->locate(SampleId{id + 60}).range);
    // Not the whole file for each, but from one point to the record's end.
    EXPECT_LT((*set)->frame_bytes(SampleId{id}), (2U << 20U));
  }
}

TEST_P(CompressedTfrecord, TextThatCompressesWell) {
  std::vector<std::byte> plain;
  for (int i = 0; i < 1000; ++i) {
    std::string picture;
    for (int word = 0; word < 300; ++word) picture += fmt::format("{} ", word * i % 977);
    ASSERT_TRUE(tfrecord::append_frame(example_of(static_cast<float>(i), picture), plain));
  }
  MemoryStore store;
  add(store, "x.tfrecord", compressed(plain, GetParam(), 9));
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->size(), 1000U);
  for (std::uint64_t id = 0; id < 1000; id += 31)
    EXPECT_EQ(sample(store, **set, id)->labels, std::vector<float>{static_cast<float>(id)});
}

TEST_P(CompressedTfrecord, TheIndexIsKept) {
  MemoryStore store;
  add(store, "x.tfrecord", compressed(records(20, 100000), GetParam()));
  MemorySideStore kept;
  const auto first = open_dataset(store, {}, {.side_store = &kept});
  const auto again = open_dataset(store, {}, {.side_store = &kept});
  EXPECT_EQ((*first)->index_source(), "scan");
  EXPECT_EQ((*again)->index_source(), "side-store");
  EXPECT_EQ(labels(store, **again), labels(store, **first));
}

TEST_P(CompressedTfrecord, ACutIsDamageAtItsPlace) {
  const auto whole = compressed(records(20, 100000), GetParam());
  MemoryStore store;
  add(store, "x.tfrecord", ByteSpan(whole).first(whole.size() / 2));
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->damage().size(), 1U);
  EXPECT_THAT((*set)->damage()[0].damage.why, HasSubstr("cut off"));
  const std::uint64_t good = (*set)->size() - 1;
  EXPECT_GE(good, 9U);
  for (std::uint64_t id = 0; id < good; ++id) EXPECT_TRUE(sample(store, **set, id));
  EXPECT_EQ(sample(store, **set, good).error().code(), Code::corrupt);
}

TEST_P(CompressedTfrecord, BytesBehindTheEndAreSaid) {
  auto file = compressed(records(2, 1000), GetParam());
  file.resize(file.size() + 3);
  MemoryStore store;
  add(store, "x.tfrecord", file);
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->size(), 3U);
  EXPECT_TRUE(sample(store, **set, 1));
  EXPECT_EQ(sample(store, **set, 2).error().code(), Code::corrupt);
}

TEST(Tfrecord, ManySmallMembersAreOneStream) {
  const auto plain = records(40, 20000);
  std::vector<std::byte> file;
  for (std::size_t at = 0; at < plain.size(); at += 70000) {
    const auto member =
        compressed(ByteSpan(plain).subspan(at, std::min<std::size_t>(70000, plain.size() - at)),
                   Compression::gzip);
    file.insert(file.end(), member.begin(), member.end());
  }
  MemoryStore store;
  add(store, "x.tfrecord", file);
  const auto set = open_dataset(store, {}, {});
  ASSERT_EQ((*set)->size(), 40U);
  for (std::uint64_t id = 0; id < 40; ++id) {
    EXPECT_EQ(sample(store, **set, id)->labels, std::vector<float>{static_cast<float>(id)});
    EXPECT_LT((*set)->frame_bytes(SampleId{id}), 300000U);  // members are points for nothing
  }
}

TEST(Tfrecord, ChangedBytesBehindATableAreCorrupt) {
  const auto file = compressed(records(30, 100000), Compression::gzip);
  MemoryStore store;
  add(store, "x.tfrecord", file);
  const auto set = open_dataset(store, {}, {});
  auto bytes = *frame(store, **set, 25);
  const auto other = *frame(store, **set, 3);
  EXPECT_EQ((*set)->parse(SampleId{25}, other).error().code(), Code::corrupt);
  EXPECT_EQ((*set)->parse(SampleId{25}, bytes.slice(0, bytes.size() / 2)).error().code(),
            Code::corrupt);
  EXPECT_EQ((*set)->parse(SampleId{25}, {}).error().code(), Code::corrupt);
}

}  // namespace
}  // namespace headrace
