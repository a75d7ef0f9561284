// SPDX-License-Identifier: Apache-2.0
/// \file The loaders of others on the same pictures, for `bench-decode`: those that a Python has
/// installed, each in a process of its own (bench/decode/peers.py, which is part of the program).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::app {

struct PeerRate {
  std::string who;
  std::string version;
  unsigned threads = 1;
  double images_per_second = 0;    ///< its loader: from files to a batch
  double first_batch_seconds = 0;  ///< without its imports
  double peak_mib = 0;             ///< private memory, worker processes included
};

struct PeerBench {
  std::string folder;
  std::vector<std::string> pythons;  ///< programs; a peer of several is taken from the first
  unsigned threads = 1;
  double seconds = 2;  ///< each
};

/// Nothing installed is no error; a Python that cannot be started is.
Result<std::vector<PeerRate>> measure_peers(const PeerBench& bench, const std::stop_token& stop);

}  // namespace headrace::app
