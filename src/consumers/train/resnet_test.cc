// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/resnet.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

namespace headrace {
namespace {

std::int64_t count_weights(const ImageModel& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(ResNet, HasAsManyWeightsAsThePublishedModels) {
  // torchvision's model table: 11,689,512 and 25,557,032 with 1,000 classes.
  EXPECT_EQ(count_weights(**make_model("resnet18", {3, 1000})), 11'689'512);
  EXPECT_EQ(count_weights(**make_model("resnet50", {3, 1000})), 25'557'032);
  // He et al. give 0.27 million for ResNet-20 on ten classes; the two projections (16·32 + 2·32
  // and 32·64 + 2·64) come on top of 269,722.
  EXPECT_EQ(count_weights(**make_model("resnet20", {3, 10})), 269'722 + 576 + 2'176);
}

TEST(ResNet, GivesAScoreAClassForEachPicture) {
  const torch::NoGradGuard no_grad;
  EXPECT_EQ((*make_model("resnet20", {1, 10}))->forward(torch::rand({5, 1, 28, 28}), {}).sizes(),
            torch::IntArrayRef({5, 10}));
  EXPECT_EQ((*make_model("resnet20", {3, 7}))->forward(torch::rand({2, 3, 32, 32}), {}).sizes(),
            torch::IntArrayRef({2, 7}));
  EXPECT_EQ((*make_model("resnet18", {3, 4}))->forward(torch::rand({2, 3, 224, 224}), {}).sizes(),
            torch::IntArrayRef({2, 4}));
  EXPECT_EQ((*make_model("resnet50", {3, 4}))->forward(torch::rand({2, 3, 64, 96}), {}).sizes(),
            torch::IntArrayRef({2, 4}));
}

TEST(ResNet, NamesItsParametersAsTorchvisionDoes) {
  const auto parameters = (*make_model("resnet50", {3, 10}))->named_parameters();
  for (const char* name : {"conv1.weight", "bn1.bias", "layer1.0.downsample.0.weight",
                           "layer3.5.conv3.weight", "layer4.2.bn3.weight", "fc.bias"}) {
    EXPECT_TRUE(parameters.contains(name)) << name;
  }
}

TEST(ResNet, TheSameSeedGivesTheSameWeights) {
  torch::manual_seed(7);
  const auto first = *make_model("resnet20", {1, 10});
  torch::manual_seed(7);
  const auto second = *make_model("resnet20", {1, 10});
  const auto others = second->named_parameters();
  for (const auto& item : first->named_parameters()) {
    EXPECT_TRUE(torch::equal(item.value(), others[item.key()])) << item.key();
  }
}

TEST(ResNet, AnUnknownNameNamesTheKnownOnes) {
  const auto model = make_model("resnet19", {3, 10});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code(), Code::invalid);
  EXPECT_NE(model.error().to_string().find("resnet20"), std::string::npos);
  EXPECT_EQ(make_model("resnet20", {3, 0}).error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
