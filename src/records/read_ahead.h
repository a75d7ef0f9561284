// SPDX-License-Identifier: Apache-2.0
/// \file Every frame of a data set in canonical order, many reads at a time: for tools that go
/// through a whole set. Training goes through the loader.
///
/// Not thread-safe: one reader, one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <stop_token>

#include "headrace/records/dataset.h"
#include "headrace/records/frames.h"
#include "headrace/storage/store.h"

namespace headrace {

struct ReadAheadOptions {
  unsigned requests = 64;                    ///< in flight
  std::uint64_t budget_bytes = 256U << 20U;  ///< of frames asked for and not yet taken
};

class ReadAhead {
 public:
  struct Answer {
    SampleId id{};
    Result<Bytes> frame;
  };

  /// Both must outlive the reader.
  ReadAhead(Store& store, const Dataset& set, const ReadAheadOptions& options,
            const std::stop_token& stop)
      : store_(frames_of(set, store)), set_(set), options_(options), stop_(stop) {}

  /// The next frame, or why it could not be read; nothing after the last.
  std::optional<Answer> next();

 private:
  struct Asked {
    std::uint64_t bytes;
    std::future<Result<ReadResult>> answer;
  };
  void ask();

  Store& store_;
  const Dataset& set_;
  const ReadAheadOptions options_;
  const std::stop_token stop_;
  std::deque<Asked> asked_;
  std::uint64_t asked_bytes_ = 0;
  std::uint64_t next_to_ask_ = 0;
  std::uint64_t next_to_give_ = 0;
};

}  // namespace headrace
