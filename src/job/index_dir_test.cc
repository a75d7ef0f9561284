// SPDX-License-Identifier: Apache-2.0
// Indexes of containers that were scanned are there for the next job, outside of mode keep too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "headrace/job/job.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

class IndexDir : public ::testing::Test {
 protected:
  /// A .rec without .idx: so many records of a mebibyte.
  void write(const std::string& name, std::size_t records) const {
    std::vector<std::byte> file;
    const std::vector<std::byte> picture(1U << 20U, std::byte{7});
    for (std::size_t i = 0; i < records; ++i) {
      const float label = 1;
      const auto header = recordio::image_header(std::span(&label, 1), i);
      ASSERT_TRUE(recordio::append_frame(header, picture, file));
    }
    std::filesystem::create_directories((root_.path() / name).parent_path());
    std::ofstream out(root_.path() / name, std::ios::binary);
    out.write(static_cast<const char*>(static_cast<const void*>(file.data())),
              static_cast<std::streamsize>(file.size()));
  }

  std::string index_source(const std::string& folder, const std::string& index_dir) const {
    JobOptions options{.uri = (root_.path() / folder).string()};
    options.index_dir = index_dir;
    options.loader.decode = false;
    options.start = false;
    const auto job = Job::open(options, {});
    EXPECT_TRUE(job.ok()) << job.error().to_string();
    return job ? (*job)->dataset().index_source() : "";
  }

  std::size_t kept() const {
    const auto folder = root_.path() / "indexes";
    if (!std::filesystem::exists(folder)) return 0;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  testing::TemporaryFolder root_;
};

TEST_F(IndexDir, KeepsTheIndexOfALargeContainerForTheNextJob) {
  write("large/x.rec", 17);
  const std::string indexes = (root_.path() / "indexes").string();
  EXPECT_EQ(index_source("large", indexes), "scan");
  EXPECT_EQ(kept(), 1U);
  EXPECT_EQ(index_source("large", indexes), "side-store");
  EXPECT_EQ(index_source("large", "none"), "scan");
  write("large/x.rec", 18);  // another file by now: its index is not believed
  EXPECT_EQ(index_source("large", indexes), "scan");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_.path() / "large"), {}), 1)
      << "nothing is written beside the data";
}

TEST_F(IndexDir, IsOfTheEnvironmentAndNotForSmallContainers) {
  write("small/x.rec", 2);
  write("large/x.rec", 17);
  ASSERT_EQ(setenv("HEADRACE_INDEX_DIR", (root_.path() / "indexes").c_str(), 1), 0);
  EXPECT_EQ(index_source("small", ""), "scan");
  EXPECT_EQ(kept(), 0U);
  EXPECT_EQ(index_source("large", ""), "scan");
  EXPECT_EQ(kept(), 1U);
  EXPECT_EQ(index_source("large", ""), "side-store");
  unsetenv("HEADRACE_INDEX_DIR");
}

}  // namespace
}  // namespace headrace
