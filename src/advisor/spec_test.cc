// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace headrace::advisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

CompareSpec spec_of(const std::string& yaml) {
  const auto experiment = parse_experiment(yaml, "e.yaml");
  EXPECT_TRUE(experiment.ok()) << experiment.error().to_string();
  const auto spec = make_spec(*experiment);
  EXPECT_TRUE(spec.ok()) << spec.error().to_string();
  return *spec;
}

std::string error_of(const std::string& yaml) {
  const auto experiment = parse_experiment(yaml, "e.yaml");
  if (!experiment.ok()) {
    EXPECT_EQ(experiment.error().code(), Code::invalid);
    return experiment.error().to_string();
  }
  const auto spec = make_spec(*experiment);
  EXPECT_FALSE(spec.ok()) << yaml;
  EXPECT_EQ(spec.error().code(), Code::invalid);
  return spec.error().to_string();
}

TEST(Spec, DefaultsAreAllModesThreeEpochsThreeRepeats) {
  const auto spec = spec_of("uri: s3://b/p");
  ASSERT_EQ(spec.tables.size(), 1U);
  const auto& table = spec.tables[0];
  EXPECT_THAT(table.modes, ElementsAre(Mode::direct, Mode::file, Mode::stream, Mode::keep,
                                       Mode::fastfile, Mode::pipe));
  EXPECT_EQ(table.repeats, 3U);
  EXPECT_THAT(table.read_flags, ElementsAre("--epochs", "3"));
  EXPECT_EQ(table.sets[0].uri, "s3://b/p");
  EXPECT_EQ(table.sets[0].local, "");
  EXPECT_THAT(table.media_of(Mode::keep), ElementsAre("none"));
}

TEST(Spec, AServersFolderMustBeThere) {
  EXPECT_TRUE(check_places(spec_of("uri: /d\nserver-data: /")).ok());
  const auto missing = check_places(spec_of("uri: /d\nserver-data: [/, /nowhere/at/all]"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::invalid);
  EXPECT_EQ(missing.error().place(), "/nowhere/at/all");
}

TEST(Spec, OptionsAreHandedOnToRead) {
  const auto spec = spec_of(
      "uri: /d\nepochs: 5\nbatch: 64\nworld_size: 2\nrank: 1\ndrop-last: true\npad: false\n"
      "accelerator: emulated:900\nmodes: [keep, stream, keep]\nkeep_dir: /c\ninstance: p3.2xlarge\n"
      "server-data: [/s1, /s2]\nreport: r.html");
  const auto& table = spec.tables[0];
  EXPECT_THAT(table.read_flags,
              ElementsAre("--epochs", "5", "--batch", "64", "--rank", "1", "--world-size", "2",
                          "--drop-last", "--accelerator", "emulated:900"));
  EXPECT_THAT(table.modes, ElementsAre(Mode::keep, Mode::stream));
  EXPECT_EQ(table.keep_dir, "/c");
  EXPECT_EQ(spec.instance, "p3.2xlarge");
  EXPECT_THAT(spec.server_data, ElementsAre("/s1", "/s2"));
  EXPECT_EQ(spec.report, "r.html");
}

TEST(Spec, AMediumForAllForSomeAndAsAMap) {
  for (const char* yaml :
       {"uri: /d\nmedium: [direct=nvme, pipe=one, s3-standard, file=none]",
        "uri: /d\nmedium: direct=nvme,pipe=one,s3-standard,file=none",
        "uri: /d\nmedium: {direct: nvme, pipe: one, default: s3-standard, file: none}"}) {
    const auto table = spec_of(yaml).tables[0];
    EXPECT_THAT(table.media_of(Mode::direct), ElementsAre("nvme"));
    EXPECT_THAT(table.media_of(Mode::pipe), ElementsAre("one"));
    EXPECT_THAT(table.media_of(Mode::keep), ElementsAre("s3-standard"));
    EXPECT_THAT(table.media_of(Mode::file), ElementsAre("none"));
  }
}

TEST(Spec, TablesSetOptionsAgain) {
  const auto spec = spec_of(
      "uri: [s3://b/raw, s3://b/rec]\nlocal: [/raw, /rec]\nepochs: 2\ntables:\n"
      "  - name: as measured\n  - {name: shaped, medium: s3-standard, epochs: 4}\n");
  ASSERT_EQ(spec.tables.size(), 2U);
  EXPECT_EQ(spec.tables[0].name, "as measured");
  EXPECT_EQ(spec.tables[0].sets[1].uri, "s3://b/rec");
  EXPECT_EQ(spec.tables[0].sets[1].local, "/rec");
  EXPECT_THAT(spec.tables[0].read_flags, ElementsAre("--epochs", "2"));
  EXPECT_THAT(spec.tables[1].read_flags, ElementsAre("--epochs", "4"));
  EXPECT_THAT(spec.tables[1].media_of(Mode::keep), ElementsAre("s3-standard"));
  EXPECT_EQ(spec_of("uri: /d\ntables: [{epochs: 1}, {epochs: 2}]").tables[1].name, "table 2");
}

TEST(Spec, SetsAreJoinedBehindOneForm) {
  const auto spec = spec_of(
      "uri: s3://b/photos\nwith: [s3://b/drawings, /d/maps]\nlocal: [/p, /q, /r]\n"
      "shares: [0.5, 0.3, 0.2]\nepoch_samples: 100\nclass_weights: [\"cat=2\", \"dog=0.5\"]\n");
  const auto& table = spec.tables.at(0);
  ASSERT_EQ(table.sets.size(), 1U);
  EXPECT_THAT(table.sets[0].uris(), ElementsAre("s3://b/photos", "s3://b/drawings", "/d/maps"));
  EXPECT_THAT(table.sets[0].locals(), ElementsAre("/p", "/q", "/r"));
  EXPECT_THAT(table.read_flags, ElementsAre("--shares", "0.5", "--shares", "0.3", "--shares", "0.2",
                                            "--epoch-samples", "100", "--class-weights", "cat=2",
                                            "--class-weights", "dog=0.5", "--epochs", "3"));
  EXPECT_THAT(error_of("uri: [/a, /b]\nwith: /c"), HasSubstr("2 forms"));
  EXPECT_THAT(error_of("uri: /a\nwith: /c\nlocal: /x"), HasSubstr("2 URIs but 1 local"));
  EXPECT_THAT(error_of("uri: /a\nwith: /c\nrepeat: 1,2,3"), HasSubstr("3 numbers for 2 sets"));
  EXPECT_THAT(error_of("uri: /a\nrepeat: 1\nshares: 1"), HasSubstr("exclude each other"));
}

TEST(Spec, AnUnknownKeyIsNamedWithItsLineAndTheNearestOne) {
  EXPECT_EQ(error_of("uri: /d\nepoch: 3"),
            "e.yaml: line 2: unknown key \"epoch\" (is \"epochs\" meant?)");
  EXPECT_THAT(error_of("uri: /d\nwhatever: 3"), HasSubstr("keys are uri, tables, prepare, modes"));
  EXPECT_THAT(error_of("uri: /d\ntables: [{name: a, repats: 2}]"),
              HasSubstr("is \"repeats\" meant?"));
}

TEST(Spec, UnfitValuesAreNamed) {
  EXPECT_THAT(error_of("epochs: 3"), HasSubstr("no URI"));
  EXPECT_THAT(error_of("uri: /d\nepochs: many"),
              HasSubstr("epochs: \"many\" is not a whole number"));
  EXPECT_THAT(error_of("uri: /d\nepochs: -1"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("uri: /d\nepochs: [1, 2]"), HasSubstr("one value"));
  EXPECT_THAT(error_of("uri: /d\nepochs: {a: 2}"), HasSubstr("epochs: a value is wanted"));
  EXPECT_THAT(error_of("uri: /d\npad: maybe"), HasSubstr("pad: \"maybe\" is not true or false"));
  EXPECT_THAT(error_of("uri: /d\nmodes: [fast]"), HasSubstr("modes"));
  EXPECT_THAT(error_of("uri: /d\nmedium: fast=nvme"), HasSubstr("medium"));
  EXPECT_THAT(error_of("uri: /d\nrepeats: 0"), HasSubstr("repeats"));
  EXPECT_THAT(error_of("uri: /d\nepochs: 0"), HasSubstr("at least 1"));
  EXPECT_THAT(error_of("uri: /d\nmodes: direct\npartial-reads: true"),
              HasSubstr("partial-reads belongs to mode keep"));
  EXPECT_THAT(error_of("uri: /d\nmodes: direct\nkeep-medium: ebs-gp3"),
              HasSubstr("keep-medium belongs to mode keep"));
  EXPECT_THAT(error_of("uri: /d\npartial-reads: true\nepochs: 1"),
              HasSubstr("from the second epoch on"));
  EXPECT_THAT(error_of("uri: [/a, /b]\nlocal: /c"), HasSubstr("2 URIs but 1 local copies"));
  EXPECT_THAT(error_of("uri: /d\ntables: []"), HasSubstr("at least one"));
  EXPECT_THAT(error_of("uri: /d\ntables: [{instance: x}]"), HasSubstr("holds for all tables"));
  EXPECT_THAT(error_of("uri: /d\ntables: [{name: a}, {name: a}]"), HasSubstr("one table only"));
  for (const char* text : {"", "7", "[a]", "a: [", "uri: &a [*a]", "? {a: b}\n: c"}) {
    EXPECT_THAT(error_of(text), HasSubstr("e.yaml")) << text;
  }
}

TEST(Spec, AModeMayRunOverSeveralMedia) {
  const auto spec = spec_of(
      "uri: /d\nmedium: {direct: [ebs-gp3, efs-elastic], pipe: none, default: s3-standard}");
  EXPECT_THAT(spec.tables[0].media_of(Mode::direct), ElementsAre("ebs-gp3", "efs-elastic"));
  EXPECT_THAT(spec.tables[0].media_of(Mode::pipe), ElementsAre("none"));
  EXPECT_THAT(spec.tables[0].media_of(Mode::keep), ElementsAre("s3-standard"));
}

TEST(Spec, ASmallJobMayStandForALargeOne) {
  const auto spec = spec_of(
      "uri: /d\nscale: 100\nfitted: [rate]\npublished: {file: 7200, pipe: 10800}\n"
      "prepare: [make, it]");
  const auto& table = spec.tables[0];
  EXPECT_EQ(table.scale, 100U);
  EXPECT_THAT(table.read_flags, ElementsAre("--epochs", "3", "--scale", "100"));
  EXPECT_THAT(table.fitted, ElementsAre("rate"));
  EXPECT_THAT(table.published, ElementsAre(Pair(Mode::file, 7200), Pair(Mode::pipe, 10800)));
  EXPECT_THAT(spec.prepare, ElementsAre("make", "it"));
  EXPECT_THAT(error_of("uri: /d\nscale: 0"), HasSubstr("at least 1"));
  EXPECT_THAT(error_of("uri: /d\npublished: {file: long}"), HasSubstr("MODE=SECONDS"));
  EXPECT_THAT(error_of("uri: /d\nprepare: {a: b}"), HasSubstr("prepare"));
  EXPECT_THAT(error_of("uri: /d\ntables:\n  - {prepare: make}"), HasSubstr("prepare"));
}

TEST(Spec, ThePublishedTrialIsAnExperiment) {
  std::ifstream file(HEADRACE_SOURCE_DIR "/experiments/published-trial.yaml");
  const std::string yaml((std::istreambuf_iterator<char>(file)), {});
  const auto spec = spec_of(yaml);
  ASSERT_EQ(spec.tables.size(), 2U);
  EXPECT_EQ(spec.tables[0].scale, 100U);
  EXPECT_THAT(
      spec.tables[0].published,
      ElementsAre(Pair(Mode::direct, 7200), Pair(Mode::file, 7200), Pair(Mode::pipe, 10800)));
  EXPECT_FALSE(spec.tables[0].fitted.empty());
  EXPECT_EQ(spec.tables[1].media_of(Mode::direct).size(), 3U);
  EXPECT_THAT(spec.tables[1].media_of(Mode::fastfile), ElementsAre("fastfile-sagemaker"));
}

}  // namespace
}  // namespace headrace::advisor
