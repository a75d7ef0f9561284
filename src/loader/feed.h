// SPDX-License-Identifier: Apache-2.0
/// \file Where the loader's frames come from: a Store under a Dataset, or a FIFO in order.
///
/// Thread-safe. The loader asks in delivery order and may have hundreds of requests open.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/records/dataset.h"

namespace headrace {

struct WantedParts;  // storage/part_reader.h

struct FeedRequest {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  SampleId sample{};
  bool out_of_order = false;  ///< a substitute: does not follow the stream
  bool fresh = false;         ///< past every cache: a second look at a suspicious record
  std::stop_token stop;
};

/// One sample's frame. Called exactly once; may only hand over.
using FeedDone = std::function<void(Result<Bytes>)>;

/// A frame, or the parts of it that were asked for, with zeros elsewhere.
struct FetchedFrame {
  Bytes bytes;
  bool whole = true;
};
using FrameDone = std::function<void(Result<FetchedFrame>)>;

class Feed {
 public:
  Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  virtual ~Feed() = default;

  virtual void fetch(const FeedRequest& request, FeedDone done) = 0;
  /// As `fetch`, but these parts of the frame are enough, if they can be had and checked; else it
  /// comes whole.
  virtual void fetch_parts(const FeedRequest& request,
                           const std::shared_ptr<const WantedParts>& /*wanted*/, FrameDone done) {
    fetch(request, [done = std::move(done)](Result<Bytes> got) {
      done(got ? Result<FetchedFrame>(FetchedFrame{.bytes = *std::move(got)})
               : std::move(got).error());
    });
  }
  /// Some frames can be had in parts.
  virtual bool reads_parts() const { return false; }
  /// The frame's meaning; called by decode threads. Damage is `corrupt`: policy decides.
  virtual Result<Sample> parse(SampleId sample, const Bytes& frame) const = 0;
  /// The caller will not ask for a while: requests that were held back, to be joined with ones
  /// that follow, must start now.
  virtual void flush() {}
  /// What follows in delivery order; each call goes on where the last one ended. Advisory.
  virtual void hint(std::span<const SampleId> /*next*/) {}
  /// False for a FIFO: it cannot go back, so there are no substitutes and no second looks.
  virtual bool random_access() const = 0;
};

/// Reads ranges that lie side by side in one object with one request, of 1 MiB at most.
/// Both must outlive the feed.
std::unique_ptr<Feed> make_store_feed(Store& store, const Dataset& dataset);

/// The feeds of the sets that `joined` was joined of, in their order. All must outlive it.
std::unique_ptr<Feed> make_joined_feed(std::vector<Feed*> feeds, const Dataset& joined);

}  // namespace headrace
