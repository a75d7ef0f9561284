// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/manageability.h"

#include <gtest/gtest.h>

namespace headrace::advisor {
namespace {

ManageabilityBook delivered() {
  auto book = ManageabilityBook::load();
  EXPECT_TRUE(book.ok()) << book.error().to_string();
  return *book;
}

TEST(Manageability, CountsWhatIsAsked) {
  Manageability facts;
  EXPECT_EQ(facts.count(), 0U);
  facts = {{"a", "b"}, {"c"}, true, false, "rent", 1};
  EXPECT_EQ(facts.count(), 7U);
}

TEST(Manageability, OfPicturesAsTheyAre) {
  const auto book = delivered();
  EXPECT_EQ(book.facts("stream", "folder").count(), 0U);
  EXPECT_EQ(book.facts("fastfile", "folder").count(), 0U);
  EXPECT_EQ(book.facts("keep", "folder").count(), 1U);
  EXPECT_EQ(book.facts("file", "folder").count(), 2U);
  EXPECT_EQ(book.facts("direct", "folder").count(), 5U);
}

TEST(Manageability, PipeAsksForMoreWhereNothingIsPacked) {
  const auto facts = delivered().facts("pipe", "folder");
  EXPECT_EQ(facts.count(), 2U);
  EXPECT_TRUE(facts.conversion);
  EXPECT_FALSE(delivered().facts("pipe", "recordio").steps.size() > 1);
}

TEST(Manageability, PackingAddsAStepAConversionAndForbidsReplacing) {
  const auto book = delivered();
  EXPECT_EQ(book.facts("pipe", "recordio").count(), 3U);
  for (const char* mode : {"direct", "file", "stream", "keep", "fastfile"}) {
    EXPECT_EQ(book.facts(mode, "recordio").count(), book.facts(mode, "folder").count() + 3) << mode;
    EXPECT_EQ(book.facts(mode, "tfrecord").count(), book.facts(mode, "folder").count() + 3) << mode;
  }
}

TEST(Manageability, SentenceHasTheNumbers) {
  EXPECT_EQ(delivered().facts("keep", "folder").sentence(),
            "0 steps before training, 0 resources to create and delete, no conversion, "
            "one picture can be replaced, no standing cost, disk for the set");
}

TEST(Manageability, AFileWithoutAModeIsRefused) {
  for (const char* text : {"", "schema: 1", "schema: 1\nmodes: {keep: {}}", "schema: 2", "]"}) {
    const auto parsed = ManageabilityBook::parse(text, "facts.yaml");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), Code::invalid);
  }
}

}  // namespace
}  // namespace headrace::advisor
