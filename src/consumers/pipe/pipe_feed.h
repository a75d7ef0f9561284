// SPDX-License-Identifier: Apache-2.0
/// \file A loader's feed from FIFOs that hold RecordIO in the loader's own order (PIPE.md).
///
/// Thread-safe. A FIFO cannot go back: requests are answered in order, substitutes and second
/// looks are refused.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "headrace/consumers/pipe/fifo.h"
#include "headrace/loader/feed.h"
#include "headrace/records/dataset.h"

namespace headrace::pipe {

struct FeedOptions {
  std::string dir;
  std::string channel = "train";
  bool pairs = false;  ///< (picture, label) pairs instead of image records
  FifoReader::Timeouts timeouts;
  WaitHook on_wait;  ///< called by the feed's thread
  /// Why the writer failed, if it is known: asked when a stream ends too early.
  std::function<std::optional<Error>()> why;
};

/// The data set must outlive the feed.
///  * invalid, not_found   as FifoReader::open says, for a channel that is no FIFO
Result<std::unique_ptr<Feed>> make_pipe_feed(const Dataset& dataset, const FeedOptions& options);

}  // namespace headrace::pipe
