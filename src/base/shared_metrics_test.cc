// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/shared_metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headrace {
namespace {

TEST(SharedMetrics, WhatOneCountsTheOtherReads) {
  const auto parent = SharedMetrics::make();
  ASSERT_TRUE(parent.ok());
  const auto child = SharedMetrics::attach(::dup(parent->fd()));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ((*child)->get(Metric::requests), 0U);
  (*child)->add(Metric::requests, 3);
  parent->metrics()->add(Metric::requests, 4);
  EXPECT_EQ(parent->metrics()->get(Metric::requests), 7U);
  EXPECT_EQ((*child)->get(Metric::requests), 7U);
  EXPECT_EQ((*child)->get(Metric::retries), 0U);
}

TEST(SharedMetrics, AnotherFileIsRefused) {
  EXPECT_EQ(SharedMetrics::attach(::open("/dev/null", O_RDWR)).error().code(), Code::invalid);
  EXPECT_EQ(SharedMetrics::attach(-1).error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
