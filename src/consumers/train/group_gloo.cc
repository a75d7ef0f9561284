// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "headrace/consumers/train/group.h"

namespace headrace {
namespace {

constexpr std::chrono::minutes kPatience{5};

Error group_error(const std::exception& problem) {
  return {Code::unavailable, fmt::format("the ranks lost each other: {}", problem.what()),
          "see the other ranks' messages; start all ranks again with --resume"};
}

class GlooGroup final : public Group {
 public:
  explicit GlooGroup(const GroupOptions& options)
      : rank_(static_cast<int>(options.rank)), world_(static_cast<int>(options.world)) {
    c10d::TCPStoreOptions meeting;
    meeting.port = options.port;
    meeting.isServer = options.server;
    meeting.numWorkers = options.world;
    meeting.waitWorkers = false;
    meeting.timeout = kPatience;
    tcp_ = c10::make_intrusive<c10d::TCPStore>(options.address, meeting);
    auto gloo = c10d::ProcessGroupGloo::Options::create();
    gloo->timeout = kPatience;
    gloo->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>("headrace", tcp_), rank_, world_, gloo);
  }

  std::uint64_t rank() const override { return static_cast<std::uint64_t>(rank_); }
  std::uint64_t world() const override { return static_cast<std::uint64_t>(world_); }
  Result<void> sum(std::span<float> values) override { return sum_as(values, at::kFloat); }
  Result<void> sum(std::span<double> values) override { return sum_as(values, at::kDouble); }

  Result<std::vector<std::string>> gather(const std::string& text) override {
    std::vector<std::string> texts;
    try {
      const auto key = [&](int rank) { return fmt::format("gather/{}/{}", gathers_, rank); };
      tcp_->set(key(rank_), std::vector<std::uint8_t>(text.begin(), text.end()));
      for (int rank = 0; rank_ == 0 && rank < world_; ++rank) {
        const auto bytes = tcp_->get(key(rank));
        texts.emplace_back(bytes.begin(), bytes.end());
        tcp_->deleteKey(key(rank));
      }
      ++gathers_;
    } catch (const std::exception& problem) {
      return group_error(problem);
    }
    return texts;
  }

 private:
  template <class Number>
  Result<void> sum_as(std::span<Number> values, at::ScalarType type) {
    try {
      std::vector<at::Tensor> tensors{
          at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, type)};
      group_->allreduce(tensors)->wait();
    } catch (const std::exception& problem) {
      return group_error(problem);
    }
    return {};
  }

  int rank_;
  int world_;
  int gathers_ = 0;
  c10::intrusive_ptr<c10d::TCPStore> tcp_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

Result<std::unique_ptr<Group>> join_group(const GroupOptions& options) {
  if (options.world == 1) return single_group();
  try {
    return std::make_unique<GlooGroup>(options);
  } catch (const std::exception& problem) {
    return Error(Code::unavailable,
                 fmt::format("rank {} of {} did not meet the others at {}:{}: {}", options.rank,
                             options.world, options.address, options.port, problem.what()),
                 "see that all ranks were started and MASTER_ADDR and MASTER_PORT are reachable");
  }
}

}  // namespace headrace
