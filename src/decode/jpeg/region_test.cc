// SPDX-License-Identifier: Apache-2.0
// Any rectangle of any picture equals libjpeg-turbo's whole picture, cropped.
#include "headrace/decode/jpeg/region.h"

#include <gtest/gtest.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "headrace/base/random.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/vector_units.h"

namespace headrace::jpeg {
namespace {

struct Recipe {
  int width = 0, height = 0, components = 3;
  int h = 1, v = 1;
  int quality = 90;
  unsigned restart = 0;
  bool optimise = false;
  bool flat = false;
  bool one_table = false;  // for all components
};

/// A picture with edges, gradients and noise, encoded by libjpeg-turbo.
std::vector<std::byte> encode(const Recipe& recipe, std::uint64_t key) {
  Random random(key);
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &out, &size);
  c.image_width = static_cast<JDIMENSION>(recipe.width);
  c.image_height = static_cast<JDIMENSION>(recipe.height);
  c.input_components = recipe.components;
  c.in_color_space = recipe.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, recipe.quality, TRUE);
  c.comp_info[0].h_samp_factor = recipe.h;
  c.comp_info[0].v_samp_factor = recipe.v;
  c.restart_interval = recipe.restart;
  c.optimize_coding = recipe.optimise ? TRUE : FALSE;
  for (int i = 0; recipe.one_table && i < recipe.components; ++i) {
    c.comp_info[i].dc_tbl_no = c.comp_info[i].ac_tbl_no = 0;
  }
  jpeg_start_compress(&c, TRUE);
  std::vector<unsigned char> row(static_cast<std::size_t>(recipe.width * recipe.components));
  for (int y = 0; y < recipe.height; ++y) {
    for (std::size_t x = 0; x < row.size(); ++x) {
      const auto wave = (x * 7 + static_cast<std::size_t>(y) * 13) / 5 % 256;
      row[x] = static_cast<unsigned char>(recipe.flat            ? 77
                                          : random.below(3) == 0 ? random.next()
                                                                 : wave);
    }
    unsigned char* rows = row.data();
    jpeg_write_scanlines(&c, &rows, 1);
  }
  jpeg_finish_compress(&c);
  const auto* bytes = static_cast<const std::byte*>(static_cast<const void*>(out));
  std::vector<std::byte> result(bytes, bytes + size);
  jpeg_destroy_compress(&c);
  std::free(out);
  return result;
}

struct Reference {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

Reference libjpeg(const std::vector<std::byte>& bytes) {
  jpeg_decompress_struct d{};
  jpeg_error_mgr errors{};
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, static_cast<const unsigned char*>(static_cast<const void*>(bytes.data())),
               bytes.size());
  jpeg_read_header(&d, TRUE);
  d.out_color_space = JCS_RGB;
  jpeg_start_decompress(&d);
  Reference picture{static_cast<int>(d.output_width), static_cast<int>(d.output_height), {}};
  picture.rgb.resize(std::size_t{d.output_width} * d.output_height * 3);
  while (d.output_scanline < d.output_height) {
    unsigned char* row = picture.rgb.data() + std::size_t{d.output_scanline} * d.output_width * 3;
    jpeg_read_scanlines(&d, &row, 1);
  }
  jpeg_destroy_decompress(&d);
  return picture;
}

void expect_same(const Reference& want, const Box& box, const std::vector<std::uint8_t>& got) {
  const std::size_t stride = std::size_t{box.width} * 3;
  for (std::uint32_t y = 0; y < box.height; ++y) {
    const std::uint8_t* row =
        want.rgb.data() +
        (std::size_t{box.top + y} * static_cast<std::size_t>(want.width) + box.left) * 3;
    for (std::size_t x = 0; x < stride; ++x) {
      ASSERT_EQ(row[x], got[y * stride + x])
          << "at column " << x / 3 << " row " << y << " of box " << box.left << "," << box.top
          << " " << box.width << "x" << box.height;
    }
  }
}

/// By lanes, by streams of scalars, by what any processor has: as far as this one has them.
template <class Body>
void on_every_unit(const Body& body) {
  for (const auto unit : kVectorUnits) {
    if (!use_vector_unit(unit)) continue;
    SCOPED_TRACE(vector_unit_name());
    body();
  }
  (void)use_vector_unit(VectorUnit::best);
}

/// By the sequential way and by the index, if there is one.
void expect_equal(RegionDecoder& decoder, const Reference& want, const Box& box, ByteSpan index,
                  const Hash128& payload) {
  const std::size_t stride = std::size_t{box.width} * 3;
  std::vector<std::uint8_t> got(stride * box.height);
  ASSERT_TRUE(decoder.decode(box, got.data(), stride));
  expect_same(want, box, got);
  if (index.empty() || testing::Test::HasFatalFailure()) return;
  SCOPED_TRACE("by the index");
  std::ranges::fill(got, std::uint8_t{0});
  ASSERT_TRUE(decoder.decode_indexed(box, got.data(), stride, index, payload));
  expect_same(want, box, got);
}

/// By nothing but the bytes that the box needs: all others are poisoned.
void expect_equal_in_parts(ByteSpan bytes, const Reference& want, const Box& box, ByteSpan index,
                           const Hash128& payload) {
  SCOPED_TRACE("by parts");
  RegionDecoder decoder;
  ASSERT_EQ(decoder.open(bytes), "");
  const auto runs = bytes_needed(decoder.outline(), box, bytes.size(), index, payload);
  ASSERT_EQ(runs.empty(), index.empty());
  if (runs.empty()) return;
  std::vector<std::byte> part(bytes.size(), std::byte{0xff});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_LT(runs[i].begin, runs[i].end);
    ASSERT_LE(runs[i].end, bytes.size());
    if (i > 0) {
      ASSERT_LT(runs[i - 1].end, runs[i].begin);
    }
    std::ranges::copy(bytes.subspan(runs[i].begin, runs[i].end - runs[i].begin),
                      part.begin() + static_cast<std::ptrdiff_t>(runs[i].begin));
  }
  const std::size_t stride = std::size_t{box.width} * 3;
  std::vector<std::uint8_t> got(stride * box.height);
  ASSERT_EQ(decoder.open(part, runs), "");
  ASSERT_TRUE(decoder.decode_indexed(box, got.data(), stride, index, payload));
  expect_same(want, box, got);
  EXPECT_FALSE(decoder.decode(box, got.data(), stride)) << "needs all bytes";
  // One run less, and the decoder says so instead of reading what is not there.
  for (std::size_t missing = 0; missing < runs.size(); ++missing) {
    auto fewer = runs;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
    if (fewer.empty()) fewer.push_back({0, 1});
    const bool opened = decoder.open(part, fewer).empty();
    EXPECT_EQ(opened, missing != 0) << "the headers";
    EXPECT_FALSE(opened && decoder.decode_indexed(box, got.data(), stride, index, payload));
  }
}

/// What a first decode of the whole picture records.
std::vector<std::byte> record_index(RegionDecoder& decoder, const Hash128& payload,
                                    std::uint32_t interval = 3) {
  std::vector<std::uint8_t> pixels(std::size_t{decoder.width()} * decoder.height() * 3);
  const Box whole{0, 0, decoder.width(), decoder.height()};
  EXPECT_TRUE(decoder.decode(whole, pixels.data(), std::size_t{decoder.width()} * 3, interval));
  return decoder.seek_index(payload);
}

void check(const Recipe& recipe, std::uint64_t key, int boxes) {
  SCOPED_TRACE(testing::Message() << recipe.width << "x" << recipe.height << " " << recipe.h << "x"
                                  << recipe.v << " components " << recipe.components << " restart "
                                  << recipe.restart);
  const auto bytes = encode(recipe, key);
  const auto want = libjpeg(bytes);
  RegionDecoder decoder;
  decoder.set_least_scouted(0);
  ASSERT_EQ(decoder.open(bytes), "");
  const auto width = static_cast<std::uint32_t>(recipe.width),
             height = static_cast<std::uint32_t>(recipe.height);
  const Hash128 payload = hash_bytes(bytes);
  const auto interval = 1 + static_cast<std::uint32_t>(key % 5);
  const auto index = record_index(decoder, payload, interval);
  EXPECT_EQ(index.empty(), recipe.restart != 0);
  on_every_unit([&] { expect_equal(decoder, want, {0, 0, width, height}, index, payload); });
  Random random(key);
  for (int i = 0; i < boxes; ++i) {
    const auto left = static_cast<std::uint32_t>(random.below(width)),
               top = static_cast<std::uint32_t>(random.below(height));
    const Box box{left, top, 1 + static_cast<std::uint32_t>(random.below(width - left)),
                  1 + static_cast<std::uint32_t>(random.below(height - top))};
    on_every_unit([&] { expect_equal(decoder, want, box, index, payload); });
    if (testing::Test::HasFatalFailure()) return;
    expect_equal_in_parts(bytes, want, box, index, payload);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Region, EqualsLibjpegForEverySizeModulo16) {
  for (const auto& [h, v] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}}) {
    for (int size = 33; size < 50; ++size) {
      check({.width = size, .height = 80 - size, .h = h, .v = v}, static_cast<std::uint64_t>(size),
            30);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Region, EqualsLibjpegOnTinyPictures) {
  for (int width = 1; width < 12; ++width) {
    for (int height = 1; height < 12; ++height) {
      check({.width = width, .height = height}, 7, 3);
      check({.width = width, .height = height, .components = 1}, 7, 3);
      if (width > 4) check({.width = width, .height = height, .h = 2, .v = 2}, 7, 3);
      if (width > 4) check({.width = width, .height = height, .h = 2, .v = 1}, 7, 3);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Region, EqualsLibjpegWithRestartsQualitiesAndOptimisedTables) {
  for (unsigned restart : {1U, 3U, 7U, 40U}) {
    check({.width = 301, .height = 203, .h = 2, .v = 2, .restart = restart}, restart, 20);
    check({.width = 301, .height = 203, .restart = restart, .optimise = true}, restart, 20);
  }
  for (int quality : {1, 10, 50, 75, 95, 100}) {
    check({.width = 250, .height = 190, .h = 2, .v = 2, .quality = quality, .optimise = true}, 1,
          20);
    check({.width = 250, .height = 190, .quality = quality}, 2, 20);
  }
}

TEST(Scouts, RecordTheIndexThatDecodingInOrderRecords) {
  int scouted = 0, all = 0;
  for (const auto& [h, v] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}}) {
    for (const int quality : {30, 75, 95}) {
      for (const bool optimise : {false, true}) {
        const auto bytes = encode(
            {.width = 403, .height = 301, .h = h, .v = v, .quality = quality, .optimise = optimise},
            static_cast<std::uint64_t>(quality));
        const Hash128 payload = hash_bytes(bytes);
        RegionDecoder decoder, in_order;
        in_order.set_least_scouted(bytes.size());
        ASSERT_EQ(decoder.open(bytes), "");
        ASSERT_EQ(in_order.open(bytes), "");
        ++all;
        const auto index = record_index(decoder, payload, 2);
        scouted += decoder.scouted() ? 1 : 0;
        EXPECT_EQ(index, record_index(in_order, payload, 2));
        EXPECT_FALSE(in_order.scouted());
        EXPECT_FALSE(index.empty());
      }
    }
  }
  EXPECT_GE(scouted, scouted_share() == 1 ? all * 3 / 4 : 0)
      << "or they are lost where they need not be";
}

TEST(Scouts, WhatTheyCannotTellApartIsDecodedInOrder) {
  // A picture without detail: every block reads the same, whichever component it belongs to.
  Recipe recipe{.width = 2000, .height = 1500};
  recipe.flat = true;
  const auto bytes = encode(recipe, 1);
  const auto want = libjpeg(bytes);
  RegionDecoder decoder;
  decoder.set_least_scouted(0);
  ASSERT_EQ(decoder.open(bytes), "");
  const Box box{100, 100, 50, 50};
  std::vector<std::uint8_t> got(std::size_t{50} * 50 * 3);
  ASSERT_TRUE(decoder.decode(box, got.data(), 150));
  expect_same(want, box, got);
}

TEST(SeekIndex, IsRefusedUnlessItWasMadeFromTheseBytes) {
  const auto bytes = encode({.width = 200, .height = 100, .h = 2, .v = 2}, 1);
  const Hash128 payload = hash_bytes(bytes);
  RegionDecoder decoder;
  ASSERT_EQ(decoder.open(bytes), "");
  const auto index = record_index(decoder, payload);
  std::vector<std::uint8_t> out(200 * 100 * 3);
  const Box box{0, 0, 200, 100};
  EXPECT_TRUE(decoder.decode_indexed(box, out.data(), 600, index, payload));
  EXPECT_FALSE(decoder.decode_indexed(box, out.data(), 600, index, hash_bytes({})));
  EXPECT_FALSE(decoder.decode_indexed(box, out.data(), 600, {}, payload));
  for (std::size_t i = 0; i < index.size(); ++i) {
    auto damaged = index;
    damaged[i] ^= std::byte{1};
    EXPECT_FALSE(decoder.decode_indexed(box, out.data(), 600, damaged, payload)) << "byte " << i;
  }
}

TEST(SeekIndex, TakesFourPercentAtMost) {
  std::size_t with = 0;
  for (const int h : {1, 2}) {
    for (const int quality : {2, 10, 50, 85, 98}) {
      for (const int size : {9, 40, 150, 500}) {
        const auto bytes =
            encode({.width = size, .height = size * 3 / 4, .h = h, .v = h, .quality = quality}, 1);
        RegionDecoder decoder;
        ASSERT_EQ(decoder.open(bytes), "");
        if (decoder.interval() == 0) continue;
        ++with;
        const auto index = record_index(decoder, hash_bytes(bytes), decoder.interval());
        EXPECT_LE(index.size() * 25, bytes.size());
        // One MCU denser would be too much, or there is nothing denser.
        if (decoder.interval() == 1) continue;
        const auto denser = record_index(decoder, hash_bytes(bytes), decoder.interval() - 1);
        EXPECT_TRUE(denser.size() * 25 > bytes.size() || denser.size() == index.size());
      }
    }
  }
  EXPECT_GT(with, 15U);
}

TEST(SeekIndex, WrongCheckpointsDoNotLeaveTheBuffers) {  // run under AddressSanitizer
  const auto bytes = encode({.width = 200, .height = 100, .h = 2, .v = 1}, 4);
  const Hash128 payload = hash_bytes(bytes);
  RegionDecoder decoder;
  ASSERT_EQ(decoder.open(bytes), "");
  const std::size_t count = (record_index(decoder, payload).size() - 40) / 8;
  std::vector<std::uint8_t> out(200 * 100 * 3);
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Checkpoint> lies(count);
    std::uint64_t bit = bytes.size() / 4 * 8;
    for (auto& lie : lies) {
      bit += random.below(2000);
      lie.bit =
          static_cast<std::uint32_t>((random.below(4) == 0 ? random.next() : bit) % (1U << 28U));
    }
    const auto index = SeekIndex::serialise(lies, 3, payload);
    ASSERT_FALSE(index.empty());
    on_every_unit([&] {
      (void)decoder.decode_indexed({0, 0, 200, 100}, out.data(), 600, index, payload);
    });
  }
}

TEST(SeekIndex, RowsThatAreAllBytesEachAreRefused) {  // run under AddressSanitizer
  const auto bytes = encode({.width = 200, .height = 200}, 4);
  const Hash128 payload = hash_bytes(bytes);
  const auto outcome = parse(bytes);
  ASSERT_TRUE(outcome.headers);
  const auto begin = static_cast<std::uint32_t>(outcome.headers->scan_begin * 8);
  const auto end = static_cast<std::uint32_t>((bytes.size() - 10) * 8);
  std::vector<Checkpoint> lies(std::size_t{25} * 9);  // 9 in each row of 25 MCUs
  for (std::size_t i = 0; i < lies.size(); ++i) lies[i].bit = i % 9 == 0 ? begin : end;
  const auto index = SeekIndex::serialise(lies, 3, payload);
  std::vector<std::uint8_t> out(std::size_t{20} * 200 * 3);
  RegionDecoder decoder;
  ASSERT_EQ(decoder.open(bytes), "");
  on_every_unit([&] {
    EXPECT_FALSE(decoder.decode_indexed({0, 0, 20, 200}, out.data(), 60, index, payload));
  });
}

TEST(Region, LeavesTheUnusualToTheLibrary) {
  RegionDecoder decoder;
  EXPECT_NE(decoder.open({}), "");
  EXPECT_NE(decoder.open(as_byte_span("not a picture")), "");
  EXPECT_EQ(decoder.open(encode({.width = 64, .height = 64, .h = 2, .v = 4}, 1)),
            "unusual sampling");
  EXPECT_EQ(decoder.open(encode({.width = 64, .height = 64, .h = 1, .v = 2}, 1)),
            "unusual sampling");
  EXPECT_EQ(decoder.open(encode({.width = 4, .height = 64, .h = 2, .v = 2}, 1)), "too narrow");
}

TEST(Region, EveryCutIsNoticedWhereverTheBoxLies) {
  const auto bytes = encode({.width = 97, .height = 61, .h = 2, .v = 2}, 5);
  std::vector<std::uint8_t> out(8 * 8 * 3);
  for (std::size_t cut = 1; cut < bytes.size(); cut += 7) {
    RegionDecoder decoder;
    const ByteSpan part = ByteSpan(bytes).first(bytes.size() - cut);
    if (decoder.open(part).empty()) {
      EXPECT_FALSE(decoder.decode({0, 0, 8, 8}, out.data(), 24)) << "cut " << cut;
    }
  }
}

class RegionFlips : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Restarts, RegionFlips, testing::Values(0U, 5U));

/// Scouts and decoding in order agree about every damaged picture, too.
TEST_P(RegionFlips, NeitherLeaveTheBuffersNorDependOnTheWay) {  // run under AddressSanitizer
  const auto original =
      encode({.width = 120, .height = 90, .h = 2, .v = 1, .restart = GetParam()}, 9);
  Random random(3);
  std::vector<std::uint8_t> out(120 * 90 * 3);
  RegionDecoder decoder;
  decoder.set_least_scouted(0);
  for (int i = 0; i < 3000; ++i) {
    auto bytes = original;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
    }
    if (!decoder.open(bytes).empty() || decoder.width() > 120 || decoder.height() > 90) continue;
    const Box box{0, 0, decoder.width(), decoder.height()};
    std::ranges::fill(out, std::uint8_t{0});
    const bool clean = decoder.decode(box, out.data(), 360);
    RegionDecoder in_order;
    in_order.set_least_scouted(bytes.size());
    ASSERT_EQ(in_order.open(bytes), "");
    std::vector<std::uint8_t> same(out.size());
    ASSERT_EQ(clean, in_order.decode(box, same.data(), 360)) << "round " << i;
    ASSERT_TRUE(!clean || out == same) << "round " << i;
  }
}

}  // namespace
}  // namespace headrace::jpeg
