// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::advisor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ManageabilityBook book() { return *ManageabilityBook::load(); }

Row ok(const char* mode, double total, std::optional<double> spread = 0.05,
       std::optional<double> cost = std::nullopt, const char* format = "folder") {
  Row row;
  row.mode = mode;
  row.uri = "s3://bucket/set";
  row.format = format;
  row.status = Status::ok;
  row.figures.emplace();
  row.figures->total_seconds = total;
  row.figures->samples_per_second = 1000 / total;
  row.figures->spread = spread;
  row.figures->cost_usd = cost;
  return row;
}

Row failed(const char* mode) {
  Row row;
  row.mode = mode;
  row.format = "folder";
  row.status = Status::failed;
  row.why = "it broke";
  return row;
}

TEST(Recommend, TheFastestWinsWhereTheDifferenceIsReal) {
  const auto advice = recommend({ok("keep", 12), ok("direct", 10), ok("stream", 15)}, book());
  EXPECT_EQ(advice.mode, "direct");
  EXPECT_EQ(advice.runner_up, "keep");
  EXPECT_THAT(advice.because, Contains("Settled by time."));
  EXPECT_THAT(
      advice.because,
      Contains("Time: direct 10.0 s in total; the best of the others, keep, 12.0 s in total: "
               "20.0 % more (the spread of the repeats is 5.0 %)."));
}

TEST(Recommend, WithinTheSpreadThereIsNoDifferenceAndCostSettles) {
  const auto advice = recommend({ok("keep", 10.3, 0.05, 1.0), ok("direct", 10, 0.05, 1.2)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_THAT(advice.because, Contains("Settled by cost."));
  EXPECT_THAT(advice.because, Contains(AllOf(StartsWith("Time: "), HasSubstr("no difference"))));
}

TEST(Recommend, ThenManageabilitySettles) {
  const auto advice = recommend({ok("direct", 10), ok("keep", 10.3), ok("file", 10.2)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_EQ(advice.runner_up, "file");
  EXPECT_THAT(advice.because, Contains("Settled by manageability."));
}

TEST(Recommend, CostWithinTheSpreadIsNoDifferenceEither) {
  const auto advice = recommend({ok("direct", 10, 0.05, 1.00), ok("keep", 10, 0.05, 1.04)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_THAT(advice.because, Contains("Settled by manageability."));
}

TEST(Recommend, ASingleRunIsGivenAnAssumedSpread) {
  const auto advice =
      recommend({ok("direct", 10, std::nullopt), ok("keep", 10.9, std::nullopt)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_THAT(advice.because, Contains(HasSubstr("a spread of 10.0 % is assumed for single runs")));
}

TEST(Recommend, SaysThatCostIsNotCounted) {
  const auto advice = recommend({ok("direct", 10), ok("keep", 20)}, book());
  EXPECT_THAT(advice.because,
              Contains("Cost: not counted, since no instance was named (--instance)."));
}

TEST(Recommend, DirectCountsTheTimeToMakeItsCopy) {
  auto file = ok("file", 14);
  file.figures->launch_seconds = 4;
  const auto advice = recommend({ok("direct", 10), file, ok("keep", 12)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_THAT(advice.because, Contains(HasSubstr("as file fetched it: 4.00 s")));
  EXPECT_THAT(recommend({ok("direct", 10), ok("keep", 20)}, book()).because,
              Contains("The totals of direct leave out the time to put the set on its disk."));
  auto priced = ok("file", 14, 0.01, 2.00);
  priced.figures->launch_seconds = 4;
  EXPECT_THAT(recommend({ok("direct", 10, 0.01, 1.00), priced}, book()).because,
              Contains(HasSubstr("Cost: direct $1.400")));
  auto at_home = ok("direct", 10);
  at_home.uri = "/data/set";
  const auto home = recommend({at_home, file, ok("keep", 12)}, book());
  EXPECT_EQ(home.mode, "direct");
  EXPECT_THAT(home.because, Not(Contains(HasSubstr("put the set on its disk"))));
}

TEST(Recommend, FormatsAreToldApart) {
  const auto advice = recommend(
      {ok("keep", 20), ok("keep", 10, 0.05, std::nullopt, "recordio"), ok("stream", 30)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_EQ(advice.format, "recordio");
  EXPECT_EQ(advice.runner_up, "stream");
  EXPECT_THAT(advice.because, Contains(HasSubstr("keep on recordio 10.0 s")));
}

TEST(Recommend, MediaOfOneModeAreToldApartAndFittedRowsPredictNothing) {
  auto gp3 = ok("direct", 10);
  gp3.medium = "ebs-gp3";
  gp3.uri = "/data/set";
  gp3.fitted = {"accelerator"};
  auto efs = ok("direct", 30);
  efs.medium = "efs-elastic";
  efs.uri = "/data/set";
  const auto advice = recommend({gp3, efs, ok("keep", 20)}, book());
  EXPECT_THAT(advice.because, Contains(HasSubstr("direct over ebs-gp3 10.0 s")));
  EXPECT_THAT(advice.because, Contains(HasSubstr("Fitted to a published result: accelerator.")));
  EXPECT_THAT(recommend({efs, ok("keep", 20)}, book()).because, Not(Contains(HasSubstr("Fitted"))));
}

TEST(Recommend, RowsThatFailedAreNoChoice) {
  const auto advice = recommend({failed("direct"), ok("keep", 20)}, book());
  EXPECT_EQ(advice.mode, "keep");
  EXPECT_FALSE(advice.runner_up.has_value());
  EXPECT_THAT(advice.because, Contains(HasSubstr("nothing else ran")));

  const auto none = recommend({failed("direct")}, book());
  EXPECT_FALSE(none.mode.has_value());
  EXPECT_EQ(none.because.size(), 1U);
}

}  // namespace
}  // namespace headrace::advisor
