// SPDX-License-Identifier: Apache-2.0
/// \file The networks that headrace-train can train, named and laid out as torchvision names them.
///
/// Not thread-safe, as torch's modules are not. ResNet-18 and ResNet-50 are He et al. 2015 for
/// pictures of about 224 pixels (the stride of a bottleneck in its 3×3 convolution, as in
/// torchvision); ResNet-20 is section 4.2 of the same paper, for pictures of about 32 pixels, with
/// projections where the shape changes. Parameters carry torchvision's names, so that a state
/// dictionary fits there.
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace {

/// Pictures [n, C, H, W] to class scores [n, classes].
class ImageModel : public torch::nn::Module {
 public:
  /// `between` is called after each convolution but a shortcut's, on the way back too; it may throw
  /// to end there. Empty: not called. It must live until backward has ended.
  using Between = std::function<void()>;
  virtual torch::Tensor forward(torch::Tensor pictures, const Between& between) = 0;
};

struct ModelShape {
  std::int64_t channels = 3;
  std::int64_t classes = 0;
};

const std::vector<std::string>& model_names();

/// Convolutions are He-initialised (fan out) from torch's default generator: seed it first.
/// `invalid` for a name that is not in `model_names`.
Result<std::shared_ptr<ImageModel>> make_model(std::string_view name, const ModelShape& shape);

}  // namespace headrace
