// SPDX-License-Identifier: Apache-2.0
// Steady state allocates nothing for a picture: every operator new of this program is counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>

#include "headrace/batch/batch_pool.h"
#include "headrace/decode/decoder.h"

namespace {

thread_local std::uint64_t allocations = 0;  // NOLINT: what operator new counts in

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is what new is made of
  void* memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Not inlined: GCC would take it for a delete that does not belong to its new.
[[gnu::noinline]] void give_back(void* memory) {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): the other half
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace headrace {
namespace {

struct Picture {
  std::string bytes;
  Hash128 payload;
  std::vector<std::byte> index;
};

std::vector<Picture> pictures() {
  std::vector<Picture> all;
  for (const char* name : {"baseline_420", "baseline_444", "baseline_422", "grey", "exif_6"}) {
    std::ifstream file(std::string(HEADRACE_TEST_DATA "/vectors/jpeg/") + name + ".jpg",
                       std::ios::binary);
    EXPECT_TRUE(file) << name;
    all.push_back({std::string(std::istreambuf_iterator<char>(file), {}), {}, {}});
    all.back().payload = hash_bytes(as_byte_span(all.back().bytes));
  }
  return all;
}

enum class By { index, nothing };

/// Decodes `count` pictures into one batch; what that allocated, the batch itself left out.
std::uint64_t decode_batch(BatchPool& pool, Decoder& decoder, const Transform& transform,
                           const std::vector<Picture>& all, By by, std::size_t count) {
  auto batch = *pool.acquire(count, {});
  const std::uint64_t before = allocations;
  for (std::size_t i = 0; i < count; ++i) {
    const Picture& picture = all[i % all.size()];
    const SeekUse seek{by == By::index ? ByteSpan(picture.index) : ByteSpan(), picture.payload,
                       nullptr};
    EXPECT_TRUE(
        decoder
            .decode_into(as_byte_span(picture.bytes), transform, {1, 0, i}, batch->sample(i), &seek)
            .ok());
    const std::array<float, 1> label{1.0F};
    batch->set_labels(i, label);
  }
  return allocations - before;
}

TEST(Allocations, AreCountedAtAll) {
  const std::uint64_t before = allocations;
  const auto some = std::make_unique<std::array<char, 100>>();
  EXPECT_EQ(allocations - before, 1U);
}

/// Plain ones, and one with all that is done in memory of the decoder's own.
std::vector<Transform> transforms() {
  std::vector<Transform> all(3);
  all[1].layout = Layout::nhwc_u8;
  all[2].augment = Augment::crop_color_transform;
  all[2].orient = Orient::exif;
  all[2].jitter = {0.4F, 0.4F, 0.4F, 0.1F};
  all[2].erase = 0.5F;
  return all;
}

TEST(Allocations, NoneForAPictureInSteadyState) {
  auto all = pictures();
  ASSERT_EQ(all.size(), 5U);
  constexpr std::size_t kBatch = 64;
  for (const auto& transform : transforms()) {
    BatchPool pool(kBatch, transform.sample_bytes(), 1, 1);
    Decoder decoder;
    std::vector<std::byte> out(transform.sample_bytes());
    for (auto& picture : all) {
      const SeekUse seek{{}, picture.payload, &picture.index};
      ASSERT_TRUE(decoder.decode_into(as_byte_span(picture.bytes), transform, {}, out, &seek).ok());
    }
    for (const auto by : {By::nothing, By::index}) {
      EXPECT_GT(decode_batch(pool, decoder, transform, all, by, kBatch), 0U);  // buffers grow
      EXPECT_EQ(decode_batch(pool, decoder, transform, all, by, kBatch), 0U);
    }
  }
}

}  // namespace
}  // namespace headrace
