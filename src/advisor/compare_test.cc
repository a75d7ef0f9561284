// SPDX-License-Identifier: Apache-2.0
// The whole comparison with a script in the place of `headrace read`.
#include "headrace/advisor/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "headrace/advisor/report.h"
#include "headrace/advisor/result_json.h"
#include "headrace/advisor/text_report.h"

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompareTest : public testing::Test {
 protected:
  CompareTest() {
    std::string name = "/var/tmp/headrace-compare-test-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~CompareTest() override { fs::remove_all(root_); }

  Result<Comparison> run(const std::string& yaml, const std::string& script = {}) {
    const auto program = (root_ / "read").string();
    std::ofstream(program)
        << "uri=$1; mode=$3; order=o; set=s; launch=0.1; cache=0\n"
        << script << "\n"
        << R"(epoch() { echo "{\"epoch\":$1,\"delivered\":10,\"seconds\":2,\"order_digest\":\"$order$1\",)"
        << R"(\"set_digest\":\"$set\",\"bytes_origin\":100,\"bytes_cache\":$cache,\"requests\":10}"; })"
        << "\necho \"{\\\"launch_seconds\\\":$launch,\\\"epochs\\\":[$(epoch 0),$(epoch 1)]}\"\n";
    const auto experiment = parse_experiment(yaml, "test");
    EXPECT_TRUE(experiment.ok()) << experiment.error().to_string();
    const auto spec = make_spec(*experiment);
    EXPECT_TRUE(spec.ok()) << spec.error().to_string();
    CompareOptions options;
    options.version = "0";
    options.runner.program = {"/bin/sh", program};
    options.look = [](const std::string& uri, const OpenOptions&,
                      const std::stop_token&) -> Result<SetInfo> {
      if (uri == "s3://down") return Error(Code::unavailable, "refused").at(uri);
      const std::uint64_t samples = uri.ends_with("half") ? 5 : 10;
      return SetInfo{uri.ends_with(".rec") ? "recordio" : "folder", samples, 1U << 30U};
    };
    return compare(*spec, options, {});
  }

  fs::path root_;
};

TEST_F(CompareTest, JsonHasEveryFieldOfTheContract) {
  const auto found =
      run("uri: s3://b/set\nmodes: [stream, keep, pipe]\nrepeats: 2\ninstance: p3.2xlarge");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  const auto json = to_json(*found);
  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["rows"].size(), 3U);
  const std::vector<std::string> fields{"mode",
                                        "medium",
                                        "format",
                                        "status",
                                        "why",
                                        "launch_seconds",
                                        "samples_per_second",
                                        "first_epoch_seconds",
                                        "later_epoch_seconds",
                                        "total_seconds",
                                        "spread",
                                        "accelerator_busy",
                                        "cost_usd",
                                        "bytes_origin",
                                        "requests",
                                        "cold",
                                        "order_digest",
                                        "set_digest"};
  for (const auto& row : json["rows"]) {
    for (const auto& field : fields) EXPECT_TRUE(row.contains(field)) << field;
  }
  const auto& ok = json["rows"][0];
  EXPECT_EQ(ok["status"], "ok");
  EXPECT_EQ(ok["medium"], "none");
  EXPECT_TRUE(ok["why"].is_null());
  EXPECT_EQ(ok["order_digest"], "o0");
  EXPECT_EQ(ok["bytes_origin"], 200);
  EXPECT_EQ(ok["cold"], "unverified");
  EXPECT_GT(ok["cost_usd"].get<double>(), 0);
  EXPECT_TRUE(ok["accelerator_busy"].is_null());
  const auto& pipe = json["rows"][2];
  EXPECT_EQ(pipe["status"], "not_run");
  EXPECT_THAT(pipe["why"].get<std::string>(), HasSubstr("packing"));
  for (auto at = 5U; at < fields.size(); ++at)
    EXPECT_TRUE(pipe[fields[at]].is_null()) << fields[at];
  EXPECT_TRUE(json["recommendation"]["mode"].is_string());
  EXPECT_TRUE(json["recommendation"]["because"].is_array());
  EXPECT_TRUE(json["recommendation"]["runner_up"].is_string());
  EXPECT_EQ(json["digests_agree"], true);
}

TEST_F(CompareTest, CostIsNullWithoutAnInstance) {
  const auto json = to_json(*run("uri: s3://b/set\nmodes: [stream]\nrepeats: 1"));
  EXPECT_TRUE(json["rows"][0]["cost_usd"].is_null());
  EXPECT_TRUE(json["rows"][0]["spread"].is_null());
}

TEST_F(CompareTest, DifferentOrdersAreAContradiction) {
  const auto found =
      run("uri: s3://b/set\nmodes: [stream, keep]\nrepeats: 1", "test $mode = keep && order=other");
  ASSERT_EQ(found->disagreements.size(), 1U);
  EXPECT_THAT(
      found->disagreements[0],
      HasSubstr("order digests of s3://b/set differ in epoch 0: stream has o0, keep has other0"));
  EXPECT_EQ(to_json(*found)["digests_agree"], false);
  EXPECT_THAT(to_text(*found), HasSubstr("THE MODES DO NOT AGREE"));
}

TEST_F(CompareTest, DifferentBytesAreAContradictionAlsoBetweenForms) {
  const auto found = run("uri: [s3://b/set, s3://b/set.rec]\nmodes: [stream]\nrepeats: 1",
                         "test $uri = s3://b/set.rec && set=other");
  ASSERT_EQ(found->disagreements.size(), 1U);
  EXPECT_THAT(found->disagreements[0], HasSubstr("set digests differ"));
}

TEST_F(CompareTest, FormsMayBeInDifferentOrders) {
  const auto found = run("uri: [s3://b/set, s3://b/set.rec]\nmodes: [stream, keep]\nrepeats: 1",
                         "test $uri = s3://b/set.rec && order=shuffled");
  EXPECT_TRUE(found->disagreements.empty());
}

TEST_F(CompareTest, ACopyThatAloneIsReadIsProvenByItsSource) {
  const std::string yaml = "uri: s3://b/set\nlocal: /d/copy\nmodes: [direct, pipe]\nrepeats: 2";
  const std::string log = "echo \"$@\" >>" + (root_ / "log").string() + "\n";
  const auto same = run(yaml + "\nno-decode: true", log);
  ASSERT_TRUE(same.ok()) << same.error().to_string();
  EXPECT_TRUE(same->disagreements.empty());
  EXPECT_EQ(same->tables[0].sets[0].source_set_digest, "s");
  EXPECT_EQ(to_json(*same)["tables"][0]["sets"][0]["source_set_digest"], "s");
  std::ifstream file(root_ / "log");
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  EXPECT_EQ(last, "s3://b/set --mode stream --epochs 1 --json --no-decode");

  const auto other = run(yaml, "test $mode = stream && set=other");
  ASSERT_EQ(other->disagreements.size(), 1U);
  EXPECT_EQ(other->disagreements[0],
            "the sets differ: /d/copy, which direct read, has the set digest s, s3://b/set has "
            "other");

  const auto unknown = run(yaml, "test $mode = stream && { echo gone >&2; exit 1; }");
  ASSERT_EQ(unknown->disagreements.size(), 1U);
  EXPECT_THAT(unknown->disagreements[0],
              HasSubstr("whether /d/copy is a copy of s3://b/set is not known: gone"));
}

TEST_F(CompareTest, ACopyIsNotReadTwiceWhereARowReadsTheSource) {
  const auto found = run("uri: s3://b/set\nlocal: /d/copy\nmodes: [direct, stream]\nrepeats: 1");
  EXPECT_TRUE(found->disagreements.empty());
  EXPECT_FALSE(found->tables[0].sets[0].source_set_digest.has_value());
  EXPECT_TRUE(to_json(*found)["tables"][0]["sets"][0]["source_set_digest"].is_null());
}

TEST_F(CompareTest, ACopyWithOtherSamplesIsRefusedBeforeTheFirstRun) {
  const auto found = run("uri: s3://b/set\nlocal: /d/half\nmodes: direct", "touch $0.ran");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().to_string(), HasSubstr("/d/half: the sets differ: the copy has 5"));
  EXPECT_FALSE(fs::exists(root_ / "read.ran"));
}

TEST_F(CompareTest, ReadingInPartsIsARowThatSaysWhatItSaves) {
  const auto found =
      run("uri: s3://b/set\nmodes: [stream, keep]\nrepeats: 1\npartial-reads: true\n"
          "keep-medium: ebs-gp3",
          "cache=2000000\ncase \"$*\" in *--partial-reads*) cache=1500000;; esac\n"
          "test $mode = stream && cache=0\n"
          "case \"$mode $*\" in stream*--keep-medium*) exit 1;; esac");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  const auto json = to_json(*found);
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][0]["keep_medium"], "none");
  EXPECT_EQ(json["rows"][1]["keep_medium"], "ebs-gp3");
  EXPECT_EQ(json["rows"][1]["partial_reads"], false);
  EXPECT_EQ(json["rows"][2]["partial_reads"], true);
  EXPECT_EQ(json["rows"][2]["bytes_cache"], 3000000);
  const auto text = to_text(*found);
  EXPECT_THAT(text, HasSubstr("keep, in parts  none, cache ebs-gp3"));
  EXPECT_THAT(text, HasSubstr("In parts: keep in parts read 3.00 MB from its cache, keep 4.00 MB: "
                              "25.0 % less"));
}

TEST_F(CompareTest, WhatHindersAllIsAnErrorBeforeTheFirstRun) {
  const auto down = run("uri: s3://down", "echo ran >>" + (root_ / "log").string());
  ASSERT_FALSE(down.ok());
  EXPECT_EQ(down.error().code(), Code::unavailable);
  const auto unknown =
      run("uri: s3://b/set\ninstance: p9", "echo ran >>" + (root_ / "log").string());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), Code::invalid);
  EXPECT_FALSE(fs::exists(root_ / "log"));
}

TEST_F(CompareTest, TextNamesTablesSetsRowsAndTheChoice) {
  const auto found =
      run("uri: [s3://b/set, s3://b/set.rec]\nmodes: [stream, keep, pipe]\nrepeats: 1\ntables:\n"
          "  - {name: as measured}\n  - {name: shaped, medium: s3-standard}\n",
          "test $mode.$uri = keep.s3://b/set && { echo 'headrace: corrupt: torn' >&2; exit 1; }");
  const auto text = to_text(*found);
  for (const char* part : {"== as measured ==", "== shaped ==",
                           "s3://b/set: folder, 10 pictures, 1074 MB", "s3://b/set.rec: recordio",
                           "keep    FAILED: corrupt: torn", "pipe    not run: needs packing",
                           "s3-standard", "Recommended: ", "  - Time: ", "runner-up: "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(text.substr(at, end - at).size(), 110U) << text.substr(at, end - at);
  }
}

TEST_F(CompareTest, ReportIsOnePageWithoutRequestsAndResultsLieBeside) {
  const auto found = run("uri: s3://b/</script><b>\nmodes: [stream]\nrepeats: 1");
  const auto path = root_ / "sub/report.html";
  const auto written = write_report(*found, path);
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  std::ifstream file(path);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(page, HasSubstr("Chart.js v"));
  EXPECT_THAT(page, HasSubstr("s3://b/\\u003c/script>\\u003cb>"));
  EXPECT_EQ(page.find("{{"), std::string::npos) << page.substr(page.find("{{"), 40);
  for (const char* outside : {"src=\"", "href=\"", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  std::ifstream results(root_ / "sub/results.json");
  EXPECT_EQ(nlohmann::ordered_json::parse(results), to_json(*found));
}

TEST_F(CompareTest, AReportThatCannotBeWrittenIsAnError) {
  const auto found = run("uri: s3://b/set\nmodes: [stream]\nrepeats: 1");
  const auto written = write_report(*found, "/proc/nowhere/report.html");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().to_string(), HasSubstr("/proc/nowhere"));
}

TEST(WithCommas, GroupsByThree) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(12345678), "12,345,678");
}

TEST_F(CompareTest, ASmallJobStandsForALargeOneAndFittedInputsAreMarked) {
  const auto found =
      run("uri: /d/set.rec\nmodes: [direct, pipe]\nrepeats: 1\nscale: 100\nfitted: accelerator\n"
          "medium: {pipe: pipe-sagemaker}\npublished: {pipe: 10800}");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  const auto json = to_json(*found);
  const auto& direct = json["rows"][0];
  const auto& pipe = json["rows"][1];
  EXPECT_EQ(direct["scale"], 100);
  EXPECT_EQ(direct["scaled_total_seconds"], 100 * direct["total_seconds"].get<double>());
  EXPECT_TRUE(direct["published_seconds"].is_null());
  EXPECT_EQ(pipe["published_seconds"], 10800);
  EXPECT_EQ(direct["fitted"], (std::vector<std::string>{"accelerator"}));
  EXPECT_EQ(pipe["fitted"],
            (std::vector<std::string>{"accelerator", "rate_total_MBps of pipe-sagemaker"}));
  const auto text = to_text(*found);
  EXPECT_THAT(text, HasSubstr("total x 100"));
  EXPECT_THAT(text, HasSubstr("pipe-sagemaker (fitted)"));
  EXPECT_THAT(text, HasSubstr("3 h 00 min"));
}

TEST_F(CompareTest, AMediumThatIsNotThereIsFoundBeforeTheFirstRun) {
  const auto found = run("uri: /d\nmedium: gp9\nmodes: direct", "touch $0.ran");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), Code::invalid);
  EXPECT_THAT(found.error().to_string(), HasSubstr("no medium gp9"));
  EXPECT_FALSE(fs::exists(root_ / "read.ran"));
}

TEST_F(CompareTest, PreparingRunsTheProgramAndSaysWhyItFailed) {
  CompareSpec spec;
  EXPECT_TRUE(prepare(spec, {}).ok());
  const auto made = (root_ / "made").string();
  spec.prepare = {"/bin/sh", "-c", "touch " + made};
  EXPECT_TRUE(prepare(spec, {}).ok());
  EXPECT_TRUE(fs::exists(made));
  spec.prepare = {"/bin/sh", "-c", "echo no wallpapers >&2; exit 3"};
  EXPECT_THAT(prepare(spec, {}).error().to_string(), HasSubstr("no wallpapers"));
}

}  // namespace
}  // namespace headrace::advisor
