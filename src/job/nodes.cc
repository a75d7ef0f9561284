// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/nodes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

/// 0 if it is not set, or no number.
std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : parse_number<std::uint64_t>(text).value_or(0);
}

}  // namespace

std::uint64_t nodes_of_launcher(std::uint64_t world) {
  if (const std::uint64_t nodes = number_in("GROUP_WORLD_SIZE"); nodes != 0) return nodes;
  for (const char* variable : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    if (const std::uint64_t local = number_in(variable); local != 0)
      return std::max<std::uint64_t>(1, world / local);
  }
  return number_in("SLURM_NNODES");
}

std::uint64_t nodes_of(const JobOptions& options) {
  const std::uint64_t world = std::max<std::uint64_t>(1, options.loader.world);
  for (const std::uint64_t nodes :
       {options.nodes, options.loader.shuffle.nodes, nodes_of_launcher(world)}) {
    if (nodes != 0) return std::min(nodes, world);
  }
  return 1;
}

double share_read_before(std::uint64_t nodes, std::uint64_t epoch) {
  if (nodes == 0) return 0;
  return 1 - std::pow(1 - 1 / static_cast<double>(nodes), static_cast<double>(epoch));
}

}  // namespace headrace
