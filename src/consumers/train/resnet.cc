// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/resnet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <span>

namespace headrace {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

using Between = ImageModel::Between;

/// Gives x on, once `between` was asked; it is asked again when x's gradient is there.
Tensor pass(Tensor x, const Between& between) {
  if (!between) return x;
  between();
  if (x.requires_grad()) x.register_hook([&between](const Tensor&) { between(); });
  return x;
}

class Block : public nn::Module {
 public:
  virtual Tensor forward(Tensor x, const Between& between) = 0;

 protected:
  /// The shortcut is the identity, unless the shape changes: then a 1×1 convolution.
  void make_shortcut(std::int64_t in, std::int64_t out, std::int64_t stride) {
    if (stride == 1 && in == out) return;
    shortcut_ = register_module("downsample",
                                nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor shortcut(const Tensor& x) { return shortcut_.is_empty() ? x : shortcut_->forward(x); }

 private:
  nn::Sequential shortcut_{nullptr};
};

class BasicBlock final : public Block {
 public:
  static constexpr std::int64_t kExpansion = 1;

  BasicBlock(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", conv(in, width, 3, stride))),
        bn1_(register_module("bn1", nn::BatchNorm2d(width))),
        conv2_(register_module("conv2", conv(width, width, 3, 1))),
        bn2_(register_module("bn2", nn::BatchNorm2d(width))) {
    make_shortcut(in, width, stride);
  }

  Tensor forward(Tensor x, const Between& between) override {
    const Tensor y = pass(bn1_(conv1_(x)).relu_(), between);
    return pass(bn2_(conv2_(y)).add_(shortcut(x)).relu_(), between);
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
};

class Bottleneck final : public Block {
 public:
  static constexpr std::int64_t kExpansion = 4;

  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1_(register_module("conv1", conv(in, width, 1, 1))),
        bn1_(register_module("bn1", nn::BatchNorm2d(width))),
        conv2_(register_module("conv2", conv(width, width, 3, stride))),
        bn2_(register_module("bn2", nn::BatchNorm2d(width))),
        conv3_(register_module("conv3", conv(width, kExpansion * width, 1, 1))),
        bn3_(register_module("bn3", nn::BatchNorm2d(kExpansion * width))) {
    make_shortcut(in, kExpansion * width, stride);
  }

  Tensor forward(Tensor x, const Between& between) override {
    Tensor y = pass(bn1_(conv1_(x)).relu_(), between);
    y = pass(bn2_(conv2_(y)).relu_(), between);
    return pass(bn3_(conv3_(y)).add_(shortcut(x)).relu_(), between);
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Conv2d conv3_;
  nn::BatchNorm2d bn3_;
};

enum class Stem { small, large };

struct Layers {
  Stem stem = Stem::large;
  std::int64_t width = 64;               ///< of the first stage; each next one doubles it
  std::span<const std::int64_t> blocks;  ///< of each stage
};

template <class BlockType>
class ResNet final : public ImageModel {
 public:
  ResNet(const Layers& layers, const ModelShape& shape) : stem_(layers.stem) {
    conv1_ =
        register_module("conv1", stem_ == Stem::small ? conv(shape.channels, layers.width, 3, 1)
                                                      : conv(shape.channels, layers.width, 7, 2));
    bn1_ = register_module("bn1", nn::BatchNorm2d(layers.width));
    std::int64_t in = layers.width;
    std::int64_t width = layers.width;
    int stages = 0;
    for (const std::int64_t count : layers.blocks) {
      nn::ModuleList stage;
      const bool is_first = blocks_.empty();
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t stride = i == 0 && !is_first ? 2 : 1;
        blocks_.push_back(std::make_shared<BlockType>(in, width, stride));
        stage->push_back(blocks_.back());
        in = width * BlockType::kExpansion;
      }
      register_module(fmt::format("layer{}", ++stages), stage);
      width *= 2;
    }
    fc_ = register_module("fc", nn::Linear(in, shape.classes));
    initialise();
  }

  Tensor forward(Tensor x, const Between& between) override {
    x = pass(bn1_(conv1_(x)).relu_(), between);
    if (stem_ == Stem::large) x = torch::max_pool2d(x, 3, 2, 1);
    for (auto& block : blocks_) x = block->forward(x, between);
    return fc_(x.mean({2, 3}));
  }

 private:
  void initialise() {
    for (auto& module : modules(false)) {
      if (auto* layer = module->template as<nn::Conv2d>()) {
        nn::init::kaiming_normal_(layer->weight, 0.0, torch::kFanOut, torch::kReLU);
      }
    }
  }

  Stem stem_;
  nn::Conv2d conv1_{nullptr};
  nn::BatchNorm2d bn1_{nullptr};
  std::vector<std::shared_ptr<BlockType>> blocks_;  ///< of all stages
  nn::Linear fc_{nullptr};
};

constexpr std::array<std::int64_t, 3> kBlocks20{3, 3, 3};
constexpr std::array<std::int64_t, 4> kBlocks18{2, 2, 2, 2};
constexpr std::array<std::int64_t, 4> kBlocks50{3, 4, 6, 3};

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"resnet18", "resnet20", "resnet50"};
  return names;
}

Result<std::shared_ptr<ImageModel>> make_model(std::string_view name, const ModelShape& shape) {
  if (shape.classes < 1) return Error(Code::invalid, "a model needs at least one class");
  if (name == "resnet18") {
    return std::make_shared<ResNet<BasicBlock>>(Layers{Stem::large, 64, kBlocks18}, shape);
  }
  if (name == "resnet20") {
    return std::make_shared<ResNet<BasicBlock>>(Layers{Stem::small, 16, kBlocks20}, shape);
  }
  if (name == "resnet50") {
    return std::make_shared<ResNet<Bottleneck>>(Layers{Stem::large, 64, kBlocks50}, shape);
  }
  return Error(Code::invalid, fmt::format("unknown model '{}'", name),
               fmt::format("choose one of {}", fmt::join(model_names(), ", ")));
}

}  // namespace headrace
