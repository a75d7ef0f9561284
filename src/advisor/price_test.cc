// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/price.h"

#include <gtest/gtest.h>

namespace headrace::advisor {
namespace {

constexpr std::string_view kBook = R"(
schema: 1
instances:
  - {type: plain, usd_per_hour: 3.6, nvme_gb: 0, dated: 2025-01}
  - {type: disky, usd_per_hour: 7.2, nvme_gb: 100, dated: 2025-01}
  - {type: ml.plain, usd_per_hour: 3.6, nvme_gb: 0, dated: 2025-01}
requests:
  - {name: s3-standard, usd_per_1000_reads: 0.5}
storage:
  - {name: s3-standard, usd_per_gb_month: 73}
  - {name: volume, usd_per_gb_month: 730}
  - {name: ml-volume, usd_per_gb_month: 1460}
  - {name: lustre, usd_per_gb_month: 0.73, min_gb: 1000}
  - {name: efs, usd_per_gb_month: 0, usd_per_gb_read: 2}
media: {s3: s3-standard, lustre: lustre, efs: efs}
volumes: {ec2: volume, sagemaker: ml-volume}
)";
constexpr std::uint64_t kGb = 1ULL << 30U;

PriceBook book() { return *PriceBook::parse(kBook, "test"); }

Cost cost_of(const char* type, Usage usage) {
  const auto prices = book();
  return prices.cost(*prices.instance(type), usage);
}

// One hour: 3.6 dollars of instance; 1 GB in the bucket costs 73 / 730 = 0.1; 2,000 reads 1.
TEST(Price, StreamPaysInstanceRequestsAndBucket) {
  const auto cost = cost_of("plain", {"stream", "none", true, 3600, 2000, 2 * kGb, kGb});
  EXPECT_DOUBLE_EQ(cost.instance, 3.6);
  EXPECT_DOUBLE_EQ(cost.requests, 1);
  EXPECT_NEAR(cost.storage, 0.1, 1e-12);
  EXPECT_NEAR(cost.total(), 4.7, 1e-12);
}

TEST(Price, FileAndKeepAlsoPayTheDiskTheyFill) {
  for (const char* mode : {"file", "keep"}) {
    EXPECT_NEAR(cost_of("plain", {mode, "s3", true, 3600, 0, 0, kGb}).storage, 1.1, 1e-12);
    EXPECT_NEAR(cost_of("ml.plain", {mode, "s3", true, 3600, 0, 0, kGb}).storage, 2.1, 1e-12);
  }
}

TEST(Price, AnInstancesOwnDiskIsFreeWhereTheSetFits) {
  EXPECT_NEAR(cost_of("disky", {"keep", "s3", true, 3600, 0, 0, kGb}).storage, 0.1, 1e-12);
  EXPECT_NEAR(cost_of("disky", {"direct", "none", true, 3600, 0, 0, kGb}).storage, 0, 1e-12);
  EXPECT_NEAR(cost_of("disky", {"direct", "none", true, 3600, 0, 0, 101 * kGb}).storage, 101, 1e-9);
}

TEST(Price, DirectSendsNoRequestsToTheBucket) {
  const auto cost = cost_of("plain", {"direct", "none", true, 3600, 5000, kGb, kGb});
  EXPECT_EQ(cost.requests, 0);
  EXPECT_NEAR(cost.storage, 1, 1e-12);
}

TEST(Price, TheSmallestFileSystemIsPaidWhole) {
  EXPECT_NEAR(cost_of("plain", {"direct", "lustre", false, 3600, 0, 0, kGb}).storage, 1, 1e-12);
}

TEST(Price, SomeStoragePaysForWhatIsRead) {
  EXPECT_NEAR(cost_of("plain", {"direct", "efs", false, 3600, 0, 3 * kGb, kGb}).requests, 6, 1e-12);
}

TEST(Price, UnknownInstanceSaysWhichThereAre) {
  const auto none = book().instance("p9.huge");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), Code::invalid);
  EXPECT_NE(none.error().remedy().find("ml.plain"), std::string::npos);
}

TEST(Price, DamagedFilesAreRefusedWithTheirPlace) {
  for (const char* text : {"", "[1, 2]", "schema: 2", "{", "schema: 1\ninstances: [{type: x}]",
                           "schema: 1\nmedia: {a: b}", "schema: 1\nstorage: []"}) {
    const auto parsed = PriceBook::parse(text, "prices.yaml");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), Code::invalid) << text;
    EXPECT_EQ(parsed.error().place().find("prices.yaml"), 0U) << text;
  }
}

TEST(Price, TheBookThatIsDeliveredParses) {
  const auto prices = PriceBook::load();
  ASSERT_TRUE(prices.ok()) << prices.error().to_string();
  EXPECT_DOUBLE_EQ(prices->instance("p3.2xlarge")->usd_per_hour, 3.06);
  EXPECT_DOUBLE_EQ(prices->instance("ml.p3.2xlarge")->usd_per_hour, 3.825);
  EXPECT_FALSE(prices->instance("p3.2xlarge")->verified);
}

}  // namespace
}  // namespace headrace::advisor
