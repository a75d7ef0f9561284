// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/row.h"

#include <gtest/gtest.h>

namespace headrace::advisor {
namespace {

EpochMeasurement epoch(std::uint64_t number, double seconds, const std::string& order = "o") {
  return {number, 100, seconds, std::nullopt, order + std::to_string(number), "s", 1000, 0, 100};
}

Measurement run(double launch, double total, std::vector<EpochMeasurement> epochs) {
  return {launch, total, std::move(epochs)};
}

TEST(Row, FiguresAreMediansOverRepeats) {
  Row row;
  conclude(row,
           {run(0.1, 10, {epoch(0, 4), epoch(1, 2), epoch(2, 4)}),
            run(0.3, 12, {epoch(0, 5), epoch(1, 3), epoch(2, 2)}),
            run(0.2, 11, {epoch(0, 6), epoch(1, 2), epoch(2, 2)})},
           Cold::verified, {});
  ASSERT_EQ(row.status, Status::ok);
  const auto& figures = *row.figures;
  EXPECT_EQ(figures.launch_seconds, 0.2);
  EXPECT_EQ(figures.first_epoch_seconds, 5);
  EXPECT_EQ(*figures.later_epoch_seconds, 2.5);
  EXPECT_EQ(figures.total_seconds, 11);
  EXPECT_DOUBLE_EQ(*figures.spread, 2.0 / 11);
  EXPECT_EQ(figures.samples_per_second, 30);
  EXPECT_EQ(figures.bytes_origin, 3000U);
  EXPECT_EQ(figures.requests, 300U);
  EXPECT_EQ(figures.samples, 100U);
  EXPECT_EQ(figures.order_digests, (std::vector<std::string>{"o0", "o1", "o2"}));
  EXPECT_EQ(figures.totals, (std::vector<double>{10, 12, 11}));
  EXPECT_FALSE(figures.accelerator_busy.has_value());
}

TEST(Row, OneEpochHasNoLaterOnesAndOneRepeatNoSpread) {
  Row row;
  conclude(row, {run(0.1, 10, {epoch(0, 4)})}, Cold::warm, {});
  ASSERT_EQ(row.status, Status::ok);
  EXPECT_FALSE(row.figures->later_epoch_seconds.has_value());
  EXPECT_FALSE(row.figures->spread.has_value());
  EXPECT_EQ(row.figures->cold, Cold::warm);
}

TEST(Row, AcceleratorIsTheMeanOverEpochs) {
  auto a = epoch(0, 4);
  auto b = epoch(1, 4);
  a.accelerator_busy = 0.8;
  b.accelerator_busy = 1.0;
  Row row;
  conclude(row, {run(0.1, 10, {a, b})}, Cold::warm, {});
  EXPECT_DOUBLE_EQ(*row.figures->accelerator_busy, 0.9);
}

TEST(Row, OneFailedRepeatFailsTheRow) {
  Row row;
  conclude(row, {run(0.1, 10, {epoch(0, 4)})}, Cold::warm, {"the server is down"});
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.why, "the server is down");
  EXPECT_FALSE(row.figures.has_value());
}

TEST(Row, RepeatsThatDisagreeFailTheRow) {
  Row row;
  conclude(row, {run(1, 2, {epoch(0, 1)}), run(1, 2, {epoch(0, 1, "other")})}, Cold::warm, {});
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_NE(row.why.find("order digest o0 and other0"), std::string::npos);
  conclude(row, {run(1, 2, {epoch(0, 1)}), run(1, 2, {epoch(0, 1), epoch(1, 1)})}, Cold::warm, {});
  EXPECT_NE(row.why.find("different numbers of epochs"), std::string::npos);
}

TEST(Row, WarmIsWorseThanUnverifiedIsWorseThanVerified) {
  EXPECT_EQ(worse(Cold::verified, Cold::verified), Cold::verified);
  EXPECT_EQ(worse(Cold::verified, Cold::unverified), Cold::unverified);
  EXPECT_EQ(worse(Cold::unverified, Cold::warm), Cold::warm);
  EXPECT_EQ(worse(Cold::warm, Cold::verified), Cold::warm);
}

TEST(Row, NamesInJson) {
  EXPECT_EQ(to_string(Status::not_run), "not_run");
  EXPECT_EQ(to_string(Status::ok), "ok");
  EXPECT_EQ(to_string(Status::failed), "failed");
  EXPECT_EQ(to_string(Cold::verified), "verified");
  EXPECT_EQ(to_string(Cold::unverified), "unverified");
  EXPECT_EQ(to_string(Cold::warm), "warm");
}

}  // namespace
}  // namespace headrace::advisor
