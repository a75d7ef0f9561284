// SPDX-License-Identifier: Apache-2.0
// Records read in parts from the node cache: the same pixels and digests, fewer bytes, and whole
// records wherever a part would not do.
#include "headrace/loader/part_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "headrace/base/random.h"
#include "headrace/decode/jpeg_encoder.h"
#include "headrace/decode/part_bytes.h"
#include "headrace/loader/testing/world.h"
#include "headrace/records/folder/folder.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::drain;

std::vector<std::byte> photograph(std::uint64_t seed, std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint8_t> rgb(std::size_t{width} * height * 3);
  Random random(seed);
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    rgb[i] = static_cast<std::uint8_t>(i / 7 % 200 + random.below(40));
  }
  return *encode_jpeg({rgb.data(), std::size_t{width} * 3, width, height}, 90);
}

std::vector<std::byte> vector_file(const std::string& name) {
  std::ifstream file(HEADRACE_TEST_DATA "/vectors/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const auto bytes = as_byte_span(text.view());
  EXPECT_FALSE(bytes.empty()) << name;
  return {bytes.begin(), bytes.end()};
}

constexpr std::uint64_t kPhotographs = 20;
constexpr std::uint64_t kOthers = 5;  // that can never be read in parts

/// A set in memory, behind a node cache on disk.
struct Set {
  Set() {
    std::vector<std::vector<std::byte>> files;
    for (std::uint64_t i = 0; i < kPhotographs; ++i) files.push_back(photograph(i, 315, 420));
    for (const char* name : {"jpeg/progressive_420.jpg", "jpeg/cmyk_pillow.jpg", "png/rgb8.png",
                             "jpeg/grey.jpg", "jpeg/baseline_420.jpg"}) {
      files.push_back(vector_file(name));
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string key = (i % 2 == 0 ? "a/" : "b/") + std::to_string(100 + i) + ".jpg";
      EXPECT_TRUE(put(origin, key, files[i], {}).ok());
    }
    dataset = *open_folder(origin, context, {});
    EXPECT_EQ(dataset->size(), kPhotographs + kOthers);
    keep = *make_keep_store(origin, {.dir = cache(), .limit_bytes = 1 << 30}, context);
    feed = make_store_feed(*keep, *dataset);
  }
  std::string cache() const { return folder.string() + "/keep"; }

  using Pixels = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;

  /// epoch and sample → pixels, of a whole job.
  Pixels run(const LoaderOptions& options, Feed& from,
             const std::function<void(const Batch&)>& at_batch = {}) {
    auto loader = Loader::make(context, from, *dataset, options);
    EXPECT_TRUE(loader.ok());
    Pixels pixels;
    last = drain(**loader, options.epochs, [&](Batch& batch) {
      if (at_batch) at_batch(batch);
      const std::size_t bytes = options.transform.sample_bytes();
      for (std::size_t i = 0; i < batch.count(); ++i) {
        pixels[{batch.epoch, batch.slots[i].sample_id}] =
            as_text(batch.pixels().subspan(i * bytes, bytes));
      }
    });
    EXPECT_FALSE(last.error) << last.error->to_string();
    return pixels;
  }
  /// Everything that was delivered is on the disk.
  std::function<void(const Batch&)> flushing() {
    return [this](const Batch&) { keep->flush(); };
  }
  bool noticed(const std::string& kind) const {
    for (const auto& notice : context.notices->all())
      if (notice.kind == kind) return true;
    return false;
  }

  testing::TemporaryFolder folder;
  Context context;
  MemoryStore origin{"memory://set"};
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<KeepStore> keep;
  std::unique_ptr<Feed> feed;
  testing::Delivered last;
};

LoaderOptions job(bool partial) {
  LoaderOptions options;
  options.batch = 4;
  options.seed = 3;
  options.epochs = 3;
  options.threads = 3;
  options.budget_bytes = 200'000;  // so that little is asked for before the last epoch was decoded
  options.depth = 1;
  options.transform.width = options.transform.height = 48;
  options.transform.layout = Layout::nhwc_u8;
  options.partial_reads = partial;
  return options;
}

std::uint64_t cache_bytes(const EpochReport& report) {
  return report.metrics[static_cast<std::size_t>(Metric::bytes_cache)];
}

void expect_same_digests(const testing::Delivered& one, const testing::Delivered& other) {
  ASSERT_EQ(one.epochs.size(), other.epochs.size());
  for (std::size_t i = 0; i < one.epochs.size(); ++i) {
    EXPECT_EQ(one.epochs[i].order_digest, other.epochs[i].order_digest);
    EXPECT_EQ(one.epochs[i].set_digest, other.epochs[i].set_digest);
    EXPECT_EQ(one.epochs[i].ledger, other.epochs[i].ledger);
  }
}

TEST(PartReads, GiveThePixelsAndDigestsOfWholeRecordsFromFewerBytes) {
  Set set;
  const auto whole = set.run(job(false), *set.feed, set.flushing());
  const auto reports = set.last;
  for (const EpochReport& report : reports.epochs) EXPECT_EQ(report.in_parts, 0U);
  const auto pixels = set.run(job(true), *set.feed, set.flushing());
  EXPECT_EQ(pixels, whole);
  expect_same_digests(set.last, reports);
  EXPECT_EQ(set.last.epochs[0].in_parts, 0U) << "nothing is noted yet";
  EXPECT_EQ(cache_bytes(set.last.epochs[0]), cache_bytes(reports.epochs[1]));
  const EpochReport& report = set.last.epochs[2];
  EXPECT_GT(report.in_parts, kPhotographs / 2);
  EXPECT_LE(report.in_parts, kPhotographs);
  EXPECT_LT(cache_bytes(report), cache_bytes(reports.epochs[2]) * 85 / 100);
}

TEST(PartReads, DamageIsNeverSeenAndWhereItIsReadItIsMended) {
  Set set;
  bool damaged = false;
  auto options = job(true);
  options.epochs = 6;
  options.budget_bytes = 1;  // one at a time: what was asked for is what is delivered
  auto reference = job(false);
  reference.epochs = 6;
  const auto wanted = set.run(reference, *set.feed, set.flushing());
  const auto want = set.last;
  const auto pixels = set.run(options, *set.feed, [&](const Batch& batch) {
    set.keep->flush();
    if (batch.epoch != 2 || std::exchange(damaged, true)) return;
    for (const auto& entry : std::filesystem::directory_iterator(set.cache() + "/v1")) {
      if (entry.path().extension() != ".data") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      for (std::streamoff at = 20'000;
           at < static_cast<std::streamoff>(std::filesystem::file_size(entry.path()));
           at += 60'000) {
        file.seekg(at);
        const int byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ 4));
      }
    }
  });
  EXPECT_TRUE(damaged);
  EXPECT_EQ(pixels, wanted);
  expect_same_digests(set.last, want);
  EXPECT_GT(set.keep->stats().damaged, 0U);
  EXPECT_TRUE(set.noticed("keep-damaged"));
  EXPECT_GT(set.last.epochs[5].in_parts, 0U) << "goes on in parts";
}

TEST(PartReads, AreLeftAloneWhereNothingCanCheckThem) {
  Set set;
  const auto feed = make_store_feed(set.origin, *set.dataset);
  const auto whole = set.run(job(false), *feed);
  EXPECT_EQ(set.run(job(true), *feed), whole);
  for (const EpochReport& report : set.last.epochs) EXPECT_EQ(report.in_parts, 0U);
  EXPECT_TRUE(set.noticed("partial-reads"));
}

TEST(PartReads, NeedPixelsAndSeekIndexes) {
  Set set;
  auto options = job(true);
  options.decode = false;
  auto made = Loader::make(set.context, *set.feed, *set.dataset, options);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::invalid);
  options = job(true);
  options.seek_bytes = 0;
  EXPECT_EQ(Loader::make(set.context, *set.feed, *set.dataset, options).error().code(),
            Code::invalid);
}

TEST(PartReads, PlansCoverWhatTheCropNeedsByBlocksOfTheFrame) {
  Set set;
  const auto options = job(true);
  const auto seeks = *SeekMemory::make(set.dataset->size(), 1 << 26);
  const auto parts = *PartReads::make(*set.dataset, options, *seeks);
  // The picture lies behind a header of its container.
  const auto picture = photograph(1, 270, 360);  // smaller than the set's
  constexpr std::size_t kHead = 777;
  std::vector<std::byte> frame(kHead + picture.size());
  std::ranges::copy(picture, frame.begin() + kHead);
  const Bytes held = Bytes::copy_of(frame);
  const Sample sample{.labels = {3, 4}, .payload = held.slice(kHead, picture.size())};
  const Hash128 payload = hash_bytes(picture);
  Decoder decoder;
  std::vector<std::byte> out(options.transform.sample_bytes()), index;
  const SeekUse use{{}, payload, &index};
  ASSERT_TRUE(decoder.decode_into(picture, options.transform, {}, out, &use).ok());
  EXPECT_EQ(parts->plan(SampleId{7}, 1), nullptr) << "nothing is noted";
  parts->note(SampleId{7}, held, sample, payload, decoder.outline());
  EXPECT_EQ(parts->plan(SampleId{7}, 1), nullptr) << "without an index nothing is known";
  seeks->put(7, index);
  const Sample elsewhere{.labels = {}, .payload = Bytes::copy_of(picture)};
  parts->note(SampleId{7}, held, elsewhere, payload, decoder.outline());
  EXPECT_EQ(parts->plan(SampleId{7}, 1), nullptr) << "not a slice of its frame";
  parts->notes().put(8, std::vector<std::byte>(56));
  parts->notes().put(9, std::vector<std::byte>(300, std::byte{1}));
  for (const std::uint64_t other : {8U, 9U}) {
    seeks->put(other, index);
    EXPECT_EQ(parts->plan(SampleId{other}, 1), nullptr) << "another job kept nonsense";
  }
  parts->note(SampleId{7}, held, sample, payload, decoder.outline());
  int planned = 0, without_headers = 0;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const auto plan = parts->plan(SampleId{7}, epoch);
    if (!plan) continue;
    ++planned;
    EXPECT_EQ(plan->labels, sample.labels);
    EXPECT_EQ(plan->payload, payload);
    EXPECT_EQ(plan->payload_begin, kHead);
    EXPECT_EQ(plan->payload_bytes, picture.size());
    const SampleKey key{.seed = options.seed, .epoch = epoch, .sample_id = 7};
    for (const auto& run :
         bytes_needed(*decoder.outline(), picture.size(), options.transform, key, index, payload)) {
      EXPECT_TRUE(jpeg::covers(plan->there, run));
    }
    std::uint64_t bytes = 0;
    for (const CheckedBlock& block : plan->wanted->blocks) {
      EXPECT_TRUE(
          jpeg::covers(plan->there, {block.offset - kHead, block.offset - kHead + block.length}));
      EXPECT_EQ(hash_bytes(held.span().subspan(block.offset, block.length)).low, block.check);
      bytes += block.length;
    }
    std::uint64_t runs = 0;
    for (const auto& run : plan->there) runs += run.end - run.begin;
    const Bytes& known = plan->wanted->known;
    EXPECT_EQ(bytes + known.size(), runs);
    EXPECT_LE(bytes, picture.size() * 15 / 16);
    if (known.empty()) continue;
    ++without_headers;
    EXPECT_EQ(plan->wanted->known_at, kHead);
    EXPECT_EQ(known.text(), as_text(picture).substr(0, decoder.outline()->jpeg.scan_begin));
  }
  auto other = options;
  other.reading = "labels by another key";
  EXPECT_NE(PartReads::name(*set.dataset, options), PartReads::name(*set.dataset, other));
  EXPECT_GT(planned, 25);
  EXPECT_GT(without_headers, 5) << "which are known";
  EXPECT_LT(planned, 50) << "crops of nearly everything are read whole";
}

}  // namespace
}  // namespace headrace
