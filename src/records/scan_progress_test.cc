// SPDX-License-Identifier: Apache-2.0
// What is read through for an index is counted while it happens; what is not, is not.
#include "headrace/records/scan_progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/records/dataset.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using testing::read_file;

struct Counted {
  std::uint64_t bytes = 0;
  std::uint64_t total = 0;
};

/// Files of tests/data/vectors, together.
void fill(MemoryStore& store, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const Bytes content = read_file(HEADRACE_TEST_DATA "/vectors/" + file);
    EXPECT_TRUE(put(store, file.substr(file.rfind('/') + 1), content.span(), {}));
  }
}

/// `indexes` may be null.
Counted open(Store& store, SideStore* indexes = nullptr) {
  ScanProgress progress;
  OpenOptions options;
  options.scanning = &progress;
  options.side_store = indexes;
  const auto set = open_dataset(store, {}, options);
  EXPECT_TRUE(set) << set.error().to_string();
  return {.bytes = progress.bytes, .total = progress.total};
}

Counted open(const std::vector<std::string>& files) {
  MemoryStore store;
  fill(store, files);
  return open(store);
}

std::uint64_t size_of(const std::string& file) {
  return read_file(HEADRACE_TEST_DATA "/vectors/" + file).size();
}

TEST(ScanProgress, EndsWithEveryByteOfWhatWasScanned) {
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{"webdataset/cls_text.tar", "webdataset/json.tar"},
        std::vector<std::string>{"tfrecord/damage_base.tfrecord"},
        std::vector<std::string>{"tfrecord/compressed.gzip.tfrecord"}}) {
    std::uint64_t sizes = 0;
    for (const std::string& file : files) sizes += size_of(file);
    const Counted counted = open(files);
    EXPECT_EQ(counted.total, sizes) << files[0];
    EXPECT_GE(counted.bytes, sizes) << files[0];
  }
}

TEST(ScanProgress, CountsWhatIsUnpackedAndThenScanned) {
  const Counted counted = open({"webdataset/comp.tar.gz"});
  EXPECT_GT(counted.total, size_of("webdataset/comp.tar.gz"));
  EXPECT_GE(counted.bytes, counted.total);
}

TEST(ScanProgress, IsNothingWhereThereIsAnIndex) {
  MemoryStore store;
  fill(store, {"webdataset/json.tar"});
  MemorySideStore indexes;
  EXPECT_GT(open(store, &indexes).bytes, 0U);
  const Counted again = open(store, &indexes);
  EXPECT_EQ(again.bytes, 0U);
  EXPECT_EQ(again.total, 0U);
}

}  // namespace
}  // namespace headrace
