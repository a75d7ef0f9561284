// SPDX-License-Identifier: Apache-2.0
/// \file Batches for someone who waits: the only place where stages are joined by queues and
/// threads. Order is chosen before anything is read; bytes in flight stay under one budget.
///
///     plan ──► fetch (async, in delivery order, within the budget) ──► decode × threads,
///     straight into the batch's memory ──► batches, in order ──► next()
///
/// Thread-safe: `next` from one thread at a time, `progress` and `stop` from any. The worked
/// example is job/read_job.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/byte_budget.h"
#include "headrace/base/context.h"
#include "headrace/batch/batch.h"
#include "headrace/batch/host_block.h"
#include "headrace/decode/decoder.h"
#include "headrace/loader/feed.h"
#include "headrace/loader/selection_of.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"
#include "headrace/sampling/state.h"
#include "headrace/storage/side_store.h"

namespace headrace {

enum class OnBad { error, skip, substitute };

struct LoaderOptions {
  std::uint64_t batch = 32;  ///< per rank
  std::uint64_t seed = 0;
  Shuffle shuffle = Shuffle::global;
  SelectionOptions selection;  ///< proportions and weights: which samples an epoch has
  std::uint64_t first_epoch = 0;
  std::uint64_t epochs = 1;  ///< the loader prefetches across epoch ends, up to this many
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  Tail tail = Tail::keep;
  unsigned threads = 0;  ///< decode threads; 0 = the processors this process may use
  std::uint64_t budget_bytes = 256U << 20U;  ///< encoded bytes in flight and batches made ahead
  /// Encoded bytes in flight at first; more as soon as decode threads wait for bytes. For a medium
  /// that answers at once; where answers are late now and then, what was read ahead rides it out.
  std::uint64_t first_bytes = ~std::uint64_t{0};
  unsigned max_requests = 256;  ///< fetches in flight
  unsigned depth = 4;           ///< batches made ahead of the consumer
  Transform transform;
  DecodeLimits limits;
  OnBad on_bad = OnBad::error;
  double max_bad = 1.0;       ///< share of an epoch's samples that may be bad before it is an error
  std::string quarantine;     ///< JSON lines of bad samples are appended here, of the one that ends
                              ///< the job too; empty: not written
  std::string uri;            ///< of the data set, as the quarantine file names it
  Pinning pin = Pinning::no;  ///< of the batches' memory: for copies to an accelerator
  bool decode = true;         ///< false: payloads are digested and dropped; slots only, no pixels
  /// Scratch space for what the first decode of each JPEG found out, so that later epochs read
  /// only what their crops need (seek_memory.h); about 3 % of the data. 0: none.
  std::uint64_t seek_bytes = 4ULL << 30U;
  /// Where these are kept for the next job (seek_shelf.h); outlives the loader. Null: nowhere.
  SideStore* seek_store = nullptr;
  std::string seek_place;  ///< names the origin there
  /// Names what decides how records are read into labels and payloads: what is kept about records
  /// for other jobs (part_reads.h) is for those that agree in it.
  std::string reading;
  /// From the second epoch on only those blocks of a JPEG are read that its crop needs, where the
  /// feed can check them (part_reads.h). Needs pixels and seek indexes.
  bool partial_reads = false;
};

struct EpochReport {
  std::uint64_t epoch = 0;
  Ledger ledger;
  Hash128 order_digest;
  Hash128 set_digest;
  /// Of the samples in the digests: how many came in parts, so that their terms stand on the hash
  /// of the whole payload that was read before, and on the blocks' checksums.
  std::uint64_t in_parts = 0;
  double seconds = 0;  ///< from the epoch's first next() to its end
  /// Bytes, requests and the cache's counters: of this epoch's reads, though some were made ahead.
  /// Waiting and computing times: of what happened between the epoch's ends.
  Metrics::Snapshot metrics{};
};

/// What of the options can be told without a data set; `make` asks it first.
///  * `invalid`   a number out of range, or options that do not fit each other
Result<void> check_loader_options(const LoaderOptions& options);

class Loader {
 public:
  /// The feed, the data set and what they stand on must outlive the loader. With a state the
  /// loader goes on from there: `changed` if the data set is another one, `invalid` if seed,
  /// order or global batch differ, each named.
  static Result<std::unique_ptr<Loader>> make(const Context& context, Feed& feed,
                                              const Dataset& dataset, const LoaderOptions& options,
                                              const std::optional<State>& resume = std::nullopt);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  virtual ~Loader() = default;

  ///  * a batch     the next of this epoch
  ///  * nothing     the epoch ended cleanly: `epoch_report` is complete, the next call begins
  ///                the following epoch; after the last one it is nothing for ever
  ///  * an error    and every later call returns the same one; batches before it were delivered.
  ///                `cancelled` is the exception: the next call goes on
  virtual Result<std::optional<std::unique_ptr<Batch>>> next(const std::stop_token& stop) = 0;

  /// Of the epoch that ended last.
  virtual const EpochReport& epoch_report() const = 0;
  /// As of the last batch that `next` returned; the start of the next epoch once an epoch ended.
  virtual State state() const = 0;
  virtual std::uint64_t steps_per_epoch() const = 0;
  /// Rate, what it waits for: for a progress line.
  struct Progress {
    std::uint64_t epoch = 0, step = 0, steps = 0;
    std::uint64_t samples = 0;  ///< delivered in this epoch
    std::uint64_t bytes_in_flight = 0;
    std::string waits_for;  ///< "origin", "decode", "consumer"
  };
  virtual Progress progress() const = 0;

 protected:
  Loader() = default;
};

}  // namespace headrace
