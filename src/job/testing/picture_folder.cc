// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/testing/picture_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace headrace::testing {

PictureFolder::PictureFolder(std::size_t count, const std::string& vectors) {
  constexpr std::array<const char*, 4> sources{"baseline_420.jpg", "grey.jpg", "baseline_444.jpg",
                                               "exif_6.jpg"};
  for (std::size_t i = 0; i < count; ++i) {
    std::filesystem::create_directories(std::filesystem::path(file(i)).parent_path());
    std::ifstream source(fmt::format("{}/jpeg/{}", vectors, sources.at(i % sources.size())),
                         std::ios::binary);
    std::ofstream target(file(i), std::ios::binary);
    // Bytes behind a picture's end are allowed, and make each file another one.
    target << source.rdbuf() << fmt::format("{:06}", i);
    EXPECT_TRUE(target.good());
  }
}

std::string PictureFolder::file(std::size_t index) const {
  return fmt::format("{}/c{}/{:04}.jpg", folder_.string(), index % 3, index);
}

}  // namespace headrace::testing
