// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/learner.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sched.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
#include <torch/version.h>

#include <array>
#include <cmath>
#include <exception>
#include <sstream>
#include <vector>

#include "headrace/consumers/train/resnet.h"

namespace headrace {
namespace {

using torch::Tensor;

unsigned allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

Error torch_error(const std::exception& problem, std::string_view doing) {
  const std::string_view text = problem.what();
  return {Code::exhausted,
          fmt::format("torch could not {}: {}", doing, text.substr(0, text.find('\n')))};
}

/// Derived, since torch's engine takes no other through `backward`.
struct GivenUp final : std::exception {};

class TorchLearner final : public Learner {
 public:
  TorchLearner(const LearnerOptions& options, std::shared_ptr<ImageModel> model, unsigned threads,
               Group& group)
      : options_(options),
        threads_(threads),
        group_(group),
        model_(std::move(model)),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(0.1)
                                             .momentum(options.momentum)
                                             .weight_decay(options.weight_decay)) {
    lay_out_weights();
  }

  Result<Marks> train(const Lesson& lesson, double rate) override {
    try {
      model_->train();
      if (lesson.give_up) remember_statistics();
      optimizer_.zero_grad();
      HEADRACE_TRY(const Marks marks, score(lesson, true));
      if (marks.samples == 0) return marks;
      if (!std::isfinite(marks.loss_sum)) {
        return Error(Code::invalid, "the loss is no finite number any more",
                     "a smaller --lr, or --warmup, keeps the model stable");
      }
      if (group_.world() > 1) HEADRACE_TRY(share(lesson.classes.size(), marks.samples));
      for (auto& parameters : optimizer_.param_groups()) {
        static_cast<torch::optim::SGDOptions&>(parameters.options()).lr(rate);
      }
      optimizer_.step();
      return marks;
    } catch (const GivenUp&) {
      bring_statistics_back();
      return Error(Code::cancelled, "stopped in the middle of a step");
    } catch (const std::exception& problem) {
      return torch_error(problem, "train a batch");
    }
  }

  Result<Marks> evaluate(const Lesson& lesson) override {
    try {
      const torch::NoGradGuard no_grad;
      model_->eval();
      return score(lesson, false);
    } catch (const GivenUp&) {
      return Error(Code::cancelled, "stopped in the middle of a step");
    } catch (const std::exception& problem) {
      return torch_error(problem, "evaluate a batch");
    }
  }

  Result<std::string> save() const override {
    try {
      torch::serialize::OutputArchive archive;
      torch::serialize::OutputArchive model(archive.compilation_unit());
      torch::serialize::OutputArchive optimizer(archive.compilation_unit());
      model_->save(model);
      optimizer_.save(optimizer);
      archive.write("model", model);
      archive.write("optimizer", optimizer);
      archive.write("random", at::detail::getDefaultCPUGenerator().get_state(), true);
      std::string bytes;
      archive.save_to([&bytes](const void* data, std::size_t size) {
        bytes.append(static_cast<const char*>(data), size);
        return size;
      });
      return bytes;
    } catch (const std::exception& problem) {
      return torch_error(problem, "write the model");
    }
  }

  Result<void> load(std::string_view bytes) override {
    try {
      torch::serialize::InputArchive archive;
      torch::serialize::InputArchive model;
      torch::serialize::InputArchive optimizer;
      archive.load_from(bytes.data(), bytes.size());
      archive.read("model", model);
      archive.read("optimizer", optimizer);
      const std::vector<std::vector<std::int64_t>> shapes = shapes_of_weights();
      model_->load(model);
      if (shapes_of_weights() != shapes) {  // torch takes any
        return Error(Code::corrupt, "the archive is of a model with other shapes");
      }
      optimizer_.load(optimizer);
      Tensor random;
      archive.read("random", random, true);
      at::Generator generator = at::detail::getDefaultCPUGenerator();
      generator.set_state(random);
      lay_out_weights();
      return {};
    } catch (const std::exception& problem) {
      return Error(Code::corrupt, torch_error(problem, "read the model").cause());
    }
  }

  std::uint64_t parameters() const override {
    std::uint64_t count = 0;
    for (const auto& parameter : model_->parameters()) {
      count += static_cast<std::uint64_t>(parameter.numel());
    }
    return count;
  }
  unsigned threads() const override { return threads_; }

 private:
  std::vector<std::vector<std::int64_t>> shapes_of_weights() const {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const auto& parameter : model_->parameters()) shapes.push_back(parameter.sizes().vec());
    return shapes;
  }

  /// The running statistics of the normalisations change on the way forward; nothing else does
  /// before the optimizer's step.
  void remember_statistics() {
    const torch::NoGradGuard no_grad;
    const auto buffers = model_->buffers();
    if (statistics_.empty())
      for (const auto& buffer : buffers) statistics_.push_back(torch::empty_like(buffer));
    for (std::size_t i = 0; i < buffers.size(); ++i) statistics_[i].copy_(buffers[i]);
  }
  void bring_statistics_back() {
    const torch::NoGradGuard no_grad;
    auto buffers = model_->buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(statistics_[i]);
  }

  /// Convolution weights lie channels-last in memory, as the pictures will: oneDNN is then about
  /// 1.5 times as fast on a processor as with torch's default layout.
  void lay_out_weights() {
    for (auto& parameter : model_->parameters()) {
      if (parameter.dim() != 4) continue;
      parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }

  /// Forward, and backward if it learns. With one channel the batch's memory is used as it is.
  Result<Marks> score(const Lesson& lesson, bool learn) {
    const auto count = static_cast<std::int64_t>(lesson.classes.size());
    std::array<double, 4> sums{0, 0, static_cast<double>(count), lesson.stop ? 1.0 : 0.0};
    ImageModel::Between between;
    if (lesson.give_up) {
      between = [&lesson] {
        if (lesson.give_up()) throw GivenUp();
      };
    }
    if (count > 0) {
      const Tensor pictures =
          torch::from_blob(lesson.pixels.data(),
                           {count, options_.channels, options_.height, options_.width})
              .contiguous(at::MemoryFormat::ChannelsLast);
      const Tensor classes = torch::tensor(
          at::ArrayRef<std::int64_t>(lesson.classes.data(), lesson.classes.size()), torch::kLong);
      const Tensor scores = model_->forward(pictures, between);
      const Tensor loss = torch::cross_entropy_loss(scores, classes);
      if (learn) loss.backward();
      sums[0] = loss.item<double>() * static_cast<double>(count);
      sums[1] = scores.detach().argmax(1).eq(classes).sum().item<double>();
    }
    HEADRACE_TRY(group_.sum(sums));
    return Marks{sums[0], static_cast<std::uint64_t>(sums[1]), static_cast<std::uint64_t>(sums[2]),
                 sums[3] > 0};
  }

  /// Makes gradients, and the running statistics of the normalisations, the mean over all
  /// samples of the step, wherever they were: so every rank makes the same update.
  Result<void> share(std::size_t mine, std::uint64_t all) {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> shared;
    for (auto& parameter : model_->parameters()) {
      if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
      shared.push_back(parameter.mutable_grad());
    }
    for (auto& buffer : model_->buffers()) {
      if (buffer.is_floating_point()) shared.push_back(buffer);
    }
    std::vector<Tensor> flat;
    flat.reserve(shared.size());
    for (const auto& tensor : shared) flat.push_back(tensor.reshape({-1}));
    Tensor all_values = torch::cat(flat).mul_(static_cast<double>(mine));
    HEADRACE_TRY(group_.sum(std::span<float>(all_values.data_ptr<float>(),
                                             static_cast<std::size_t>(all_values.numel()))));
    all_values.div_(static_cast<double>(all));
    std::int64_t at = 0;
    for (auto& tensor : shared) {
      tensor.copy_(all_values.narrow(0, at, tensor.numel()).view(tensor.sizes()));
      at += tensor.numel();
    }
    return {};
  }

  const LearnerOptions options_;
  const unsigned threads_;
  Group& group_;
  std::shared_ptr<ImageModel> model_;
  mutable torch::optim::SGD optimizer_;  // its save is not const
  std::vector<Tensor> statistics_;       // as they were before the step
};

}  // namespace

Marks& Marks::operator+=(const Marks& other) {
  loss_sum += other.loss_sum;
  correct += other.correct;
  samples += other.samples;
  stop = stop || other.stop;
  return *this;
}

Result<std::unique_ptr<Learner>> Learner::make(const LearnerOptions& options, Group& group) {
  try {
    const unsigned threads = options.threads != 0 ? options.threads : allowed_processors();
    at::set_num_threads(static_cast<int>(threads));
    at::globalContext().setDeterministicAlgorithms(true, false);
    torch::manual_seed(options.seed);
    HEADRACE_TRY(auto model,
                 make_model(options.model, {static_cast<std::int64_t>(options.channels),
                                            static_cast<std::int64_t>(options.classes)}));
    return std::make_unique<TorchLearner>(options, std::move(model), threads, group);
  } catch (const std::exception& problem) {
    return torch_error(problem, "make the model");
  }
}

std::string torch_version() { return TORCH_VERSION; }

}  // namespace headrace
