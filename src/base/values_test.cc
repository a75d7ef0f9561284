// SPDX-License-Identifier: Apache-2.0
// Values: digests, random numbers, URIs, bytes, mapped arrays.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/base/metrics.h"
#include "headrace/base/notices.h"
#include "headrace/base/random.h"
#include "headrace/base/uri.h"

namespace headrace {
namespace {

// docs/SEMANTICS.md: "Digests are sums modulo 2^128, so they add over ranks and over a restart."
TEST(Digest, AddsWithCarry) {
  Hash128 sum{.high = 1, .low = ~std::uint64_t{0}};
  sum += Hash128{.high = 2, .low = 1};
  EXPECT_EQ(sum, (Hash128{.high = 4, .low = 0}));
}

TEST(Digest, IsFixedForEver) {
  // XXH3-128 of nothing, from the reference implementation's sanity tests.
  EXPECT_EQ(hash_bytes({}).to_hex(), "99aa06d3014798d86001c324468d497f");
  const std::array<float, 1> label{3};
  const Hash128 payload = hash_bytes(as_byte_span("picture"));
  EXPECT_NE(set_term(label, payload), order_term(0, 0, label, payload));
  EXPECT_NE(order_term(1, 0, label, payload), order_term(0, 1, label, payload));
}

TEST(Digest, HexRoundTripsAndRefusesTheRest) {
  const Hash128 hash{.high = 0x0123, .low = 0xfedc};
  EXPECT_EQ(Hash128::from_hex(hash.to_hex()), hash);
  EXPECT_EQ(Hash128::from_hex("12"), std::nullopt);
  EXPECT_EQ(Hash128::from_hex(std::string(31, '0') + "g"), std::nullopt);
}

TEST(Random, IsTheReferenceStream) {
  // SplitMix64 with seed 1234567: the published first outputs.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.below(7), 7U);
    const double u = random.uniform();
    EXPECT_TRUE(u >= 0 && u < 1);
  }
}

TEST(Uri, KeysAreNotNormalised) {
  const auto uri = parse_uri("s3://bucket/a//b/./%2B +");
  ASSERT_TRUE(uri.ok());
  EXPECT_EQ(uri->authority, "bucket");
  EXPECT_EQ(uri->path, "a//b/./%2B +");
  EXPECT_EQ(uri->to_string(), "s3://bucket/a//b/./%2B +");
}

TEST(Uri, ASchemeComesBeforeTheFirstSlash) {
  EXPECT_EQ(parse_uri("dir/s3://x")->scheme, Scheme::local);
  EXPECT_EQ(parse_uri("file:///data")->path, "/data");
  EXPECT_EQ(parse_uri("gs://b/k").error().code(), Code::invalid);
  EXPECT_NE(parse_uri("s3:/b/k").error().to_string().find("s3://b/k"), std::string::npos);
  EXPECT_EQ(parse_uri("./s3:/b/k")->scheme, Scheme::local);
  EXPECT_EQ(parse_uri("s3://").error().code(), Code::invalid);
  EXPECT_EQ(parse_uri("").error().code(), Code::invalid);
}

TEST(Bytes, SlicesShareTheBlock) {
  Buffer buffer(4);
  std::memcpy(buffer.data(), "abcd", 4);
  Bytes slice;
  {
    const Bytes whole = std::move(buffer).freeze(4);
    slice = whole.slice(1, 2);
  }
  EXPECT_EQ(slice.text(), "bc");
  EXPECT_EQ(Bytes::copy_of(std::string_view{}).size(), 0U);
}

TEST(MappedArray, GrowsAndKeepsItsContent) {
  auto array = MappedArray<std::uint64_t>::make();
  ASSERT_TRUE(array.ok());
  constexpr std::uint64_t kMany = 100'000;
  for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_TRUE(array->append(i * i).ok());
  ASSERT_EQ(array->size(), kMany);
  for (std::uint64_t i = 0; i < kMany; i += 997) EXPECT_EQ((*array)[i], i * i);
}

TEST(MappedArray, NamesTheVolumeItCannotUse) {
  ASSERT_EQ(::setenv("HEADRACE_TMPDIR", "/no/such/folder", 1), 0);
  const auto file = MappedFile::temporary();
  ::unsetenv("HEADRACE_TMPDIR");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code(), Code::not_found);
  EXPECT_EQ(file.error().place(), "/no/such/folder");
}

TEST(Metrics, HaveANameEach) {
  for (std::size_t i = 0; i < Metrics::kCount; ++i) {
    EXPECT_FALSE(to_string(static_cast<Metric>(i)).empty());
  }
}

TEST(Notices, AreCountedByKindAndKeepTheFirstText) {
  Notices notices;
  notices.add("jpeg-warning", "a.jpg: extraneous bytes");
  notices.add("jpeg-warning", "b.jpg: extraneous bytes");
  ASSERT_EQ(notices.all().size(), 1U);
  EXPECT_EQ(notices.all()[0].count, 2U);
  EXPECT_EQ(notices.all()[0].text, "a.jpg: extraneous bytes");
}

}  // namespace
}  // namespace headrace
