// SPDX-License-Identifier: Apache-2.0
/// \file A model that learns: pictures and classes in, loss out. The only door to libtorch; what
/// stands above it does not see torch.
///
/// Not thread-safe. On the same machine, build and number of torch threads the same calls give
/// the same bits, also when `save` and `load` stand between them.
///
///     HEADRACE_TRY(auto learner, Learner::make({.model = "resnet20", .classes = 10}, *group));
///     HEADRACE_TRY(auto result, learner->train({pixels, classes, false}, 0.1));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/consumers/train/group.h"

namespace headrace {

struct LearnerOptions {
  std::string model = "resnet20";
  std::uint32_t channels = 3;
  std::uint32_t height = 32;
  std::uint32_t width = 32;
  std::uint64_t classes = 0;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  std::uint64_t seed = 0;  ///< of the initial weights
  unsigned threads = 0;    ///< torch's; 0 = the processors this process may use
};

/// One rank's part of a step; may be empty. `pixels` are [classes.size(), C, H, W] float32, read
/// in place; `stop` is this rank's wish to end after the step. `give_up` is asked between the
/// layers, forward and backward: true ends the step there, `cancelled`, as if it had not begun. A
/// step of large pictures takes many seconds. REQUIRES: no `give_up` where there are several ranks,
/// of which the others would wait.
struct Lesson {
  std::span<float> pixels;
  std::span<const std::int64_t> classes;
  bool stop = false;
  std::function<bool()> give_up;
};

/// Summed over all ranks.
struct Marks {
  double loss_sum = 0;  ///< cross-entropy, summed over the samples
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;
  bool stop = false;  ///< some rank wishes to end

  Marks& operator+=(const Marks& other);
};

class Learner {
 public:
  /// The group must outlive the learner.
  static Result<std::unique_ptr<Learner>> make(const LearnerOptions& options, Group& group);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  /// One update by SGD with momentum. `invalid` if the loss is no finite number: what was learnt
  /// is then lost, but for what was saved. `cancelled` if it was given up.
  virtual Result<Marks> train(const Lesson& lesson, double rate) = 0;
  /// Scores without learning.
  virtual Result<Marks> evaluate(const Lesson& lesson) = 0;

  /// Model, optimizer and random state, as a TorchScript archive that `torch.jit.load` reads.
  virtual Result<std::string> save() const = 0;
  /// `corrupt` if the archive is not one of this model.
  virtual Result<void> load(std::string_view archive) = 0;

  virtual std::uint64_t parameters() const = 0;
  virtual unsigned threads() const = 0;

 protected:
  Learner() = default;
};

/// "1.13.0": bit-equal losses are promised within one version only.
std::string torch_version();

}  // namespace headrace
