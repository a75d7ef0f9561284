// SPDX-License-Identifier: Apache-2.0
/// \file The writing side of Pipe mode: a FIFO an epoch, each written once its reader comes.
///
/// One call writes one channel, on the caller's thread. PIPE.md says what a stream holds, and how
/// a reader tells an epoch's end from a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "headrace/consumers/pipe/fifo.h"
#include "headrace/records/dataset.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"

namespace headrace::pipe {

enum class StreamOrder {
  stored,  ///< the objects' bytes back to back, as SageMaker does
  global,  ///< RecordIO in Headrace's own order
};

std::string_view to_string(StreamOrder order);
Result<StreamOrder> parse_stream_order(std::string_view text);

struct WriterOptions {
  std::string dir;
  std::string channel = "train";
  StreamOrder order = StreamOrder::stored;
  std::uint64_t first_epoch = 0;
  std::uint64_t first_position = 0;  ///< global position to begin at, in the first epoch
  std::uint64_t epochs = 1;
  std::uint64_t seed = 0;  ///< this and what follows: `global` only
  Shuffle shuffle = Shuffle::global;
  PlanOptions plan;    ///< rank, world, batch, tail; samples is set
  bool pairs = false;  ///< pictures that lie in no records: (picture, label) pairs
  std::uint64_t budget_bytes = 64U << 20U;
  unsigned requests = 64;
  Seconds open_timeout{0};  ///< for a reader to come; 0: for ever
};

struct WrittenEpoch {
  std::uint64_t epoch = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pieces = 0;  ///< records, or objects in `stored`
  bool abandoned = false;    ///< the reader closed before the end
};

struct WriterHooks {
  std::function<void(const WrittenEpoch&)> at_epoch_end;
  /// Before the FIFO is closed for a failure, so that a reader in this process can know why.
  std::function<void(const Error&)> at_failure;
  WaitHook on_wait;
};

/// `invalid` for pictures without records under `global`, unless `pairs`; or for a plan that
/// cannot be.
Result<void> check_writable(const Dataset& dataset, const WriterOptions& options);

/// Writes all epochs. FIFOs exist one epoch ahead, and go when they were written.
///  * invalid      as check_writable says, or something that is no FIFO has a FIFO's name
///  * cancelled, and whatever the store says
Result<void> write_channel(Store& store, const Dataset& dataset, const WriterOptions& options,
                           const WriterHooks& hooks, const std::stop_token& stop);

}  // namespace headrace::pipe
