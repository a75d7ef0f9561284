// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/group.h"

#include <fmt/format.h>

#include <cstdlib>

#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

class SingleGroup final : public Group {
 public:
  std::uint64_t rank() const override { return 0; }
  std::uint64_t world() const override { return 1; }
  Result<void> sum(std::span<float> /*values*/) override { return {}; }
  Result<void> sum(std::span<double> /*values*/) override { return {}; }
  Result<std::vector<std::string>> gather(const std::string& text) override {
    return std::vector<std::string>{text};
  }
};

template <class Number>
Result<Number> number_from_environment(const char* name) {
  const char* const value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  const auto number = parse_number<Number>(text);
  if (!number) {
    return Error(Code::invalid,
                 fmt::format("environment variable {} is '{}', no number", name, text),
                 "torchrun sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; unset all four to "
                 "train with one process");
  }
  return *number;
}

}  // namespace

Result<GroupOptions> group_from_environment() {
  GroupOptions options;
  if (std::getenv("WORLD_SIZE") == nullptr) return options;
  HEADRACE_TRY(options.world, number_from_environment<std::uint64_t>("WORLD_SIZE"));
  HEADRACE_TRY(options.rank, number_from_environment<std::uint64_t>("RANK"));
  if (options.rank >= options.world) {
    return Error(Code::invalid,
                 fmt::format("RANK {} is not below WORLD_SIZE {}", options.rank, options.world));
  }
  if (options.world == 1) return options;
  HEADRACE_TRY(options.port, number_from_environment<std::uint16_t>("MASTER_PORT"));
  const char* const address = std::getenv("MASTER_ADDR");
  if (address == nullptr)
    return Error(Code::invalid, "environment variable MASTER_ADDR is not set");
  options.address = address;
  const char* const agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  options.server = options.rank == 0 && (agent == nullptr || std::string_view(agent) != "True");
  return options;
}

std::unique_ptr<Group> single_group() { return std::make_unique<SingleGroup>(); }

}  // namespace headrace
