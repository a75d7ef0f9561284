// SPDX-License-Identifier: Apache-2.0
/// \file Several nodes, each with a cache of its own: how many there are, and what that does to the
/// share of an epoch that a node finds in its cache. Pure but for the environment.
#pragma once

#include <cstdint>

#include "headrace/job/job.h"

namespace headrace {

/// As the launcher of `world` ranks says: torchrun by GROUP_WORLD_SIZE or, one node at a time,
/// LOCAL_WORLD_SIZE; Open MPI by OMPI_COMM_WORLD_LOCAL_SIZE; Slurm by SLURM_NNODES. 0 if none does.
std::uint64_t nodes_of_launcher(std::uint64_t world);

/// `JobOptions::nodes`, or those of the shuffle, or as the launcher says, or 1.
std::uint64_t nodes_of(const JobOptions& options);

/// The share of the `epoch`-th epoch (0 = the first) that a node has read before, on average and if
/// all that was read is kept: under `global` and `blocks` each node reads another 1 / nodes of the
/// set every epoch, so 1 - (1 - 1 / nodes)^epoch; 1 - 0^epoch on one node.
double share_read_before(std::uint64_t nodes, std::uint64_t epoch);

}  // namespace headrace
