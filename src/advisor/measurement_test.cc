// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/measurement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headrace::advisor {
namespace {

nlohmann::json whole() {
  return nlohmann::json::parse(R"({"schema":1,"launch_seconds":0.25,"new_field":7,"epochs":[
    {"epoch":0,"asked":9,"delivered":8,"substituted":0,"skipped":1,"dropped":0,"padded":0,
     "quarantined":1,"seconds":2.5,"samples_per_second":3.2,"accelerator_busy":null,
     "order_digest":"aa","set_digest":"bb","bytes_origin":100,"bytes_cache":0,"requests":9,
     "retries":0}]})");
}

TEST(Measurement, ReadsWhatIsThere) {
  const auto parsed = parse_measurement(whole().dump());
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->launch_seconds, 0.25);
  ASSERT_EQ(parsed->epochs.size(), 1U);
  const auto& epoch = parsed->epochs[0];
  EXPECT_EQ(epoch.delivered, 8U);
  EXPECT_EQ(epoch.seconds, 2.5);
  EXPECT_EQ(epoch.order_digest, "aa");
  EXPECT_EQ(epoch.set_digest, "bb");
  EXPECT_EQ(epoch.bytes_origin, 100U);
  EXPECT_EQ(epoch.requests, 9U);
  EXPECT_FALSE(epoch.accelerator_busy.has_value());
}

TEST(Measurement, AcceleratorIsReadIfItIsANumber) {
  auto json = whole();
  json["epochs"][0]["accelerator_busy"] = 0.97;
  EXPECT_EQ(parse_measurement(json.dump())->epochs[0].accelerator_busy, 0.97);
}

TEST(Measurement, EveryFieldThatIsUsedIsNamedWhenItIsMissingOrOfAnotherKind) {
  for (const char* field : {"epoch", "delivered", "seconds", "order_digest", "set_digest",
                            "bytes_origin", "bytes_cache", "requests"}) {
    for (const bool missing : {true, false}) {
      auto json = whole();
      if (missing) {
        json["epochs"][0].erase(field);
      } else {
        json["epochs"][0][field] = nlohmann::json::array();
      }
      const auto parsed = parse_measurement(json.dump());
      ASSERT_FALSE(parsed.ok()) << field;
      EXPECT_EQ(parsed.error().code(), Code::corrupt);
      EXPECT_NE(parsed.error().cause().find(field), std::string::npos);
    }
  }
}

TEST(Measurement, TextThatIsNoMeasurementIsRefused) {
  for (const char* text :
       {"", "x", "[]", "7", "{}", R"({"launch_seconds":1})", R"({"launch_seconds":1,"epochs":[]})",
        R"({"launch_seconds":1,"epochs":[7]})", R"({"launch_seconds":1,"epochs":{}})",
        R"({"launch_seconds":"1"})"}) {
    const auto parsed = parse_measurement(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), Code::corrupt);
  }
}

}  // namespace
}  // namespace headrace::advisor
