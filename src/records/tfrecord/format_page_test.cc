// SPDX-License-Identifier: Apache-2.0
// The worked example of FORMAT.md, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"

namespace headrace::tfrecord {
namespace {

/// The block of hex under "A file in hex", without what stands beside the bytes.
std::string hex_of_the_page() {
  std::ifstream file(HEADRACE_SOURCE_DIR "/src/records/tfrecord/FORMAT.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const auto heading = page.find("## A file in hex");
  const auto begin = page.find("```\n", heading) + 4;
  std::string hex;
  std::size_t at = begin;
  for (const auto end = page.find("```", begin); at < end; at = page.find('\n', at) + 1) {
    const std::string line = page.substr(at, page.find('\n', at) - at);
    hex += line.substr(0, line.find("   ")) + " ";
  }
  std::erase(hex, ' ');
  return hex;
}

TEST(TfrecordFormat, ThePageShowsWhatWeWrite) {
  const std::vector<float> labels{3};
  const std::vector<std::byte> picture{std::byte{0xff}, std::byte{0xd8}};
  std::vector<std::byte> example;
  append_example(labels, picture, "", example);
  std::vector<std::byte> file;
  ASSERT_TRUE(append_frame(example, file));
  std::string hex;
  for (const std::byte byte : file) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  EXPECT_EQ(hex_of_the_page(), hex);
}

}  // namespace
}  // namespace headrace::tfrecord
