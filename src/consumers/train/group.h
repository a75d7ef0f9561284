// SPDX-License-Identifier: Apache-2.0
/// \file The ranks that train one model together: sums over all of them, and who am I.
///
/// Not thread-safe. Every rank makes the same calls in the same order; a call returns when all
/// ranks made it. `single_group` is the one-rank case, without any communication.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/base/result.h"

namespace headrace {

class Group {
 public:
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group() = default;

  virtual std::uint64_t rank() const = 0;
  virtual std::uint64_t world() const = 0;
  /// Replaces the values by their sums over all ranks, the same bits on each.
  virtual Result<void> sum(std::span<float> values) = 0;
  virtual Result<void> sum(std::span<double> values) = 0;
  /// On rank 0 the texts of all ranks, in their order; elsewhere nothing.
  virtual Result<std::vector<std::string>> gather(const std::string& text) = 0;

 protected:
  Group() = default;
};

/// What torchrun, or any launcher that sets the same four variables, says.
struct GroupOptions {
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  std::string address;  ///< of rank 0's meeting point
  std::uint16_t port = 0;
  bool server = true;  ///< rank 0 serves the meeting point; false where the launcher does
};

/// From RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; one rank where WORLD_SIZE is not set.
/// `invalid` if only some are set or they do not fit each other.
Result<GroupOptions> group_from_environment();

std::unique_ptr<Group> single_group();
/// Meets the other ranks, by c10d with Gloo. `unavailable` if they do not come within 5 minutes.
Result<std::unique_ptr<Group>> join_group(const GroupOptions& options);

}  // namespace headrace
