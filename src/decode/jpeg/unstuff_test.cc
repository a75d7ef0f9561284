// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/unstuff.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "headrace/base/random.h"

namespace headrace::jpeg {
namespace {

struct Plain {
  std::vector<std::uint8_t> clean;
  std::vector<std::uint32_t> zeros;
  std::size_t taken = 0;
};

/// What is meant, byte by byte.
Plain plain(const std::vector<std::uint8_t>& bytes) {
  Plain result;
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (bytes[i] != 0xff || i + 1 == bytes.size()) {
      result.clean.push_back(bytes[i++]);
    } else if (bytes[i + 1] == 0) {
      result.clean.push_back(0xff);
      result.zeros.push_back(static_cast<std::uint32_t>(result.clean.size()));
      i += 2;
    } else {
      break;
    }
  }
  result.taken = i;
  return result;
}

void expect_plain(const std::vector<std::uint8_t>& bytes) {
  const Plain want = plain(bytes);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    std::vector<std::uint8_t> to(bytes.size() + kUnstuffSlack);
    std::vector<std::uint32_t> zeros;
    const auto done =
        unstuff(bytes.data(), bytes.data() + bytes.size(), to.data(), to.data(), &zeros);
    EXPECT_EQ(done.from - bytes.data(), static_cast<std::ptrdiff_t>(want.taken));
    to.resize(static_cast<std::size_t>(done.to - to.data()));
    EXPECT_EQ(to, want.clean);
    EXPECT_EQ(zeros, want.zeros);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Unstuff, IsWhatIsMeantOnEveryTarget) {
  Random random(1);
  for (std::size_t size = 0; size < 400; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next());
    for (std::size_t i = 0; i + 1 < size; ++i) {
      if (random.below(20) == 0) bytes[i] = 0xff;
      if (bytes[i] == 0xff && random.below(50) != 0) bytes[i + 1] = 0;
    }
    expect_plain(bytes);
  }
}

TEST(Unstuff, EndsAtAMarkerAndKeepsA0xffAtTheEnd) {
  expect_plain({1, 2, 0xff, 0xd9, 3});
  expect_plain({0xff, 0xff, 0});
  expect_plain({0xff, 0, 0xff, 0});
  expect_plain({7, 0xff});
  std::vector<std::uint8_t> to(2 + kUnstuffSlack);
  const std::uint8_t bytes[] = {7, 0xff};
  EXPECT_EQ(unstuff(bytes, bytes + 2, to.data()).to, to.data() + 2);
}

}  // namespace
}  // namespace headrace::jpeg
