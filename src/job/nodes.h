// SPDX-License-Identifier: Apache-2.0
/// \file Several nodes, each with a cache of its own: how many there are, and what that does to the
/// share of an epoch that a node finds in its cache. Pure but for the environment.
#pragma once

#include <cstdint>

#include "headrace/job/job.h"

namespace headrace {

/// `JobOptions::nodes` if it is given; else ranks by ranks a node, which torchrun
/// (LOCAL_WORLD_SIZE), Open MPI (OMPI_COMM_WORLD_LOCAL_SIZE) and Slurm (SLURM_NNODES) tell; else 1.
std::uint64_t nodes_of(const JobOptions& options);

/// The share of the `epoch`-th epoch (0 = the first) that a node has read before, if all that was
/// read is kept: under `global` each node reads another 1 / nodes of the set every epoch, so
/// 1 - (1 - 1 / nodes)^epoch; 1 - 0^epoch on one node.
double share_read_before(std::uint64_t nodes, std::uint64_t epoch);

}  // namespace headrace
