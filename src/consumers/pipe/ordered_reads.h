// SPDX-License-Identifier: Apache-2.0
/// \file Reads made ahead, given back in the order in which they were asked for: what a FIFO needs.
///
/// Not thread-safe: one user; completions may come from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "headrace/base/mutex.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace::pipe {

/// One piece of the stream.
struct Piece {
  Extent extent;
  SampleId sample{};  ///< where the pieces are samples
};

class OrderedReads {
 public:
  struct Limits {
    std::uint64_t budget_bytes = 64U << 20U;  ///< read and not yet taken
    unsigned requests = 64;
  };
  /// Gives the pieces in order; nothing after the last.
  using Source = std::function<std::optional<Piece>()>;

  OrderedReads(Store& store, Source source, const Limits& limits, const std::stop_token& stop);
  OrderedReads(const OrderedReads&) = delete;
  OrderedReads& operator=(const OrderedReads&) = delete;
  /// Ends what is in flight and waits for it.
  ~OrderedReads();

  struct Answer {
    Piece piece;
    Result<Bytes> bytes;
  };
  /// Waits for the next piece; nothing after the last.
  std::optional<Answer> next();

 private:
  struct Slot {
    Piece piece;
    std::optional<Result<Bytes>> bytes;
  };
  void ask();

  Store& store_;
  const Source source_;
  const Limits limits_;
  std::stop_source stop_;
  const std::stop_callback<std::function<void()>> forward_;
  bool ended_ = false;
  std::optional<Piece> held_;  ///< came from the source, did not fit yet
  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Slot>> slots_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t bytes_ HEADRACE_GUARDED_BY(mutex_) = 0;
  unsigned in_flight_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace::pipe
