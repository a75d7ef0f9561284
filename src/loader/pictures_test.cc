// SPDX-License-Identifier: Apache-2.0
// The loader with real pictures: pixels are the decoder's, whoever decodes them and wherever
// they lie.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "headrace/loader/testing/world.h"
#include "headrace/records/folder/folder.h"

namespace headrace {
namespace {

using testing::drain;
using testing::ScriptedStore;

std::string vector_file(const std::string& name) {
  std::ifstream file(HEADRACE_TEST_DATA "/vectors/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

LoaderOptions picture_job() {
  LoaderOptions options;
  options.batch = 4;
  options.seed = 3;
  options.epochs = 2;
  options.threads = 3;
  options.transform.width = options.transform.height = 24;
  options.transform.layout = Layout::nhwc_u8;
  return options;
}

struct Pictures {
  explicit Pictures(const std::vector<std::string>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string key = "a/" + std::to_string(100 + i) + ".jpg";
      EXPECT_TRUE(put(store, key, as_byte_span(files[i]), {}).ok());
    }
    dataset = *open_folder(store, context, {});
    feed = make_store_feed(store, *dataset);
  }

  /// epoch and sample → pixels, of a whole job.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> run(const LoaderOptions& options) {
    auto loader = Loader::make(context, *feed, *dataset, options);
    EXPECT_TRUE(loader.ok());
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> pixels;
    last = drain(**loader, options.epochs, [&](Batch& batch) {
      const std::size_t bytes = options.transform.sample_bytes();
      ASSERT_EQ(batch.pixels().size(), batch.count() * bytes);
      for (std::size_t i = 0; i < batch.count(); ++i) {
        pixels[{batch.epoch, batch.slots[i].sample_id}] =
            as_text(batch.pixels().subspan(i * bytes, bytes));
      }
    });
    return pixels;
  }

  Context context;
  ScriptedStore store;
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<Feed> feed;
  testing::Delivered last;
};

const std::vector<std::string> kGood{"jpeg/baseline_420.jpg", "jpeg/grey.jpg",
                                     "jpeg/cmyk_pillow.jpg", "jpeg/baseline_444.jpg",
                                     "jpeg/exif_6.jpg"};

std::vector<std::string> pictures(std::size_t count) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < count; ++i) files.push_back(vector_file(kGood[i % kGood.size()]));
  return files;
}

TEST(Pictures, HaveTheDecodersPixelsInEveryThread) {
  const auto files = pictures(11);
  Pictures set(files);
  for (const unsigned threads : {1U, 3U, 8U}) {
    auto options = picture_job();
    options.threads = threads;
    const auto got = set.run(options);
    ASSERT_EQ(got.size(), 22U);
    Decoder decoder;
    std::string wanted(options.transform.sample_bytes(), '\0');
    for (const auto& [key, pixels] : got) {
      const SampleKey sample{.seed = 3, .epoch = key.first, .sample_id = key.second};
      ASSERT_TRUE(decoder
                      .decode_into(as_byte_span(files[key.second]), options.transform, sample,
                                   std::as_writable_bytes(std::span(wanted)))
                      .ok());
      EXPECT_EQ(pixels, wanted) << "sample " << key.second;
    }
  }
}

TEST(Pictures, OfABatchCloseUpBehindSkippedOnes) {
  auto files = pictures(11);
  const auto whole = Pictures(files).run(picture_job());
  files[2].resize(files[2].size() / 2);  // cut off
  files[5].clear();                      // empty
  files[9] = "GIF89a, it says";          // another format, and no picture
  Pictures set(files);
  auto options = picture_job();
  options.on_bad = OnBad::skip;
  const auto got = set.run(options);
  EXPECT_EQ(set.last.epochs.at(0).ledger, (Ledger{.asked = 11, .delivered = 8, .skipped = 3}));
  EXPECT_EQ(got.size(), 16U);
  for (const auto& [key, pixels] : got) EXPECT_EQ(pixels, whole.at(key));
}

TEST(Pictures, ThatAreDamagedHaveSubstitutes) {
  auto files = pictures(11);
  files[2].resize(files[2].size() / 2);
  Pictures set(files);
  auto options = picture_job();
  options.on_bad = OnBad::substitute;
  set.run(options);
  ASSERT_FALSE(set.last.error);
  EXPECT_EQ(set.last.epochs.at(1).ledger, (Ledger{.asked = 11, .delivered = 10, .substituted = 1}));
}

TEST(Pictures, ThatAreDamagedAreNamed) {
  auto files = pictures(3);
  files[1].resize(files[1].size() / 2);
  Pictures set(files);
  set.run(picture_job());
  ASSERT_TRUE(set.last.error);
  EXPECT_EQ(set.last.error->code(), Code::corrupt);
  EXPECT_NE(set.last.error->to_string().find("a/101.jpg"), std::string::npos);
}

TEST(Pictures, MayTakeLargeBatchesUnderASmallBudget) {
  Pictures set(pictures(11));
  auto options = picture_job();
  const auto wanted = set.run(options);
  options.budget_bytes = 1;
  EXPECT_EQ(set.run(options), wanted);
}

}  // namespace
}  // namespace headrace
