// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "headrace/base/result.h"

namespace headrace {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return Error(Code::invalid, "odd");
  return x / 2;
}

Result<int> quarter(int x) {
  HEADRACE_TRY(const int h, half(x));
  HEADRACE_TRY(half(h));
  return half(h);
}

TEST(Error, PlaceIsAddedOnce) {
  Error error = Error(Code::corrupt, "bad magic", "repack").at("s3://b/k @ 4").at("s3://b/k @ 4");
  EXPECT_EQ(error.to_string(), "s3://b/k @ 4: bad magic (repack)");
  EXPECT_EQ(std::move(error).at("channel train").to_string(),
            "channel train: s3://b/k @ 4: bad magic (repack)");
}

TEST(Error, FirstRemedyStays) {
  EXPECT_EQ(Error(Code::denied, "403").advise("one").advise("two").remedy(), "one");
}

TEST(Error, ErrnoIsMappedInOnePlace) {
  EXPECT_EQ(errno_error(ENOENT, "open").code(), Code::not_found);
  EXPECT_EQ(errno_error(ENOSPC, "write").code(), Code::exhausted);
  EXPECT_EQ(errno_error(EIO, "read").code(), Code::unavailable);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().cause(), "odd");
}

}  // namespace
}  // namespace headrace
