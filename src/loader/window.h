// SPDX-License-Identifier: Apache-2.0
/// \file The batches on their way, in delivery order, and who waits for what: the one lock that
/// the loader's stages share.
///
/// Thread-safe. One fetcher adds, completions arrive on any thread, decode threads take and
/// finish, one consumer pops. An Item belongs to one stage at a time, and changes hands here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/byte_budget.h"
#include "headrace/base/context.h"
#include "headrace/base/digest.h"
#include "headrace/base/mutex.h"
#include "headrace/batch/batch_pool.h"
#include "headrace/records/dataset.h"

namespace headrace {

struct PartPlan;

/// One place in a batch, on its way.
struct Item {
  Slot slot;
  unsigned attempt = 0;                  ///< substitutes tried
  bool looked_again = false;             ///< read a second time, past every cache
  bool left_out = false;                 ///< a bad sample under `skip`
  std::shared_ptr<const PartPlan> plan;  ///< what of the frame is enough; null: nothing less
  bool in_parts = false;                 ///< `got` is no more than that
  std::optional<Result<Bytes>> got;      ///< the frame
  ByteBudget::Grant grant;
  std::optional<Error> suspicion;  ///< what the first of two looks found
  std::optional<Error> damage;     ///< of the sample that was asked for, if it is bad
  std::vector<float> labels;
  Hash128 order;
  Hash128 set;
};

/// The place whose sample a batch failed for.
struct FailedPlace {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  Error damage;
};

/// One batch, on its way.
struct Work {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::vector<Item> items;

  // What follows belongs to the Window.
  std::deque<std::size_t> fetched;   ///< items that wait for a decode thread
  std::size_t underway = 0;          ///< items that are not finished
  std::size_t awaited = 0;           ///< of these, items whose bytes have not come
  std::unique_ptr<OpenBatch> batch;  ///< made when its turn is near
  std::optional<Error> error;        ///< the first
  std::optional<FailedPlace> bad;    ///< what it is about

  /// What it takes of a limit. One without items takes a place too: of a rank without a share in
  /// any epoch there would else be no end.
  std::size_t places() const { return std::max<std::size_t>(1, items.size()); }
};

class Window {
 public:
  struct Limits {
    std::size_t depth = 1;     ///< batches that have memory, ahead of the consumer
    std::size_t items = 1;     ///< places in all batches; one batch may have more
    std::size_t requests = 1;  ///< fetches in flight
    ByteBudget* budget =
        nullptr;  ///< to be widened when decode threads wait for bytes; may be null
  };
  using MakeBatch = std::function<Result<std::unique_ptr<OpenBatch>>(std::size_t count)>;

  Window(Context context, const Limits& limits, MakeBatch make_batch);

  // The fetcher, in delivery order.

  /// Waits for room. Null once a stop was asked for or a batch has failed.
  Work* add(std::unique_ptr<Work> work, const std::stop_token& stop);
  /// Counts one more fetch in flight, if that is allowed now.
  bool try_start();
  /// The same, and waits for it. False once a stop was asked for.
  bool start(const std::stop_token& stop);
  /// Waits until everything that was asked for has come. False once a stop was asked for.
  bool wait_fetched(const std::stop_token& stop);
  /// No batch will be added any more.
  void close();

  // Everyone who asks a feed, beyond the fetcher's limit: second looks and substitutes.
  void start_again(Work& work);
  /// What a fetch brought. The work must not be touched afterwards.
  void arrived(Work& work, std::size_t index, Result<Bytes> got);

  // Decode threads.

  struct Task {
    Work* work = nullptr;
    std::size_t index = 0;
    std::span<std::byte> pixels;
  };
  /// Waits for the first place in delivery order whose bytes are here and whose batch has
  /// memory. Nothing once a stop was asked for, or when all is done.
  std::optional<Task> take(const std::stop_token& stop);
  /// The place is filled, or left out.
  void finish(Work& work, std::size_t index);
  /// Because of the place at `index`.
  void fail(Work& work, std::size_t index, Error error);

  // The consumer.

  /// Waits for the first batch. Its error, or `cancelled`; after an error the window stays.
  Result<std::unique_ptr<Work>> pop(const std::stop_token& stop);
  /// Once `pop` gave an error: the sample whose fault it was, if it was one's.
  std::optional<FailedPlace> failed_place() const;
  /// "origin", "decode" or "consumer".
  std::string waits_for() const;

  /// Waits until no fetch is in flight: every completion has been called.
  void wait_idle();

 private:
  std::optional<Task> take_now() HEADRACE_REQUIRES(mutex_);
  bool has_memory(Work& work) HEADRACE_REQUIRES(mutex_);
  Metric why_waiting() const HEADRACE_REQUIRES(mutex_);
  void finish_locked(Work& work) HEADRACE_REQUIRES(mutex_);
  void fail_locked(Work& work, Error error) HEADRACE_REQUIRES(mutex_);

  const Context context_;
  const Limits limits_;
  const MakeBatch make_batch_;
  mutable Mutex mutex_;
  Condition room_;   // the fetcher: space for a batch, a free request
  Condition work_;   // decode threads: bytes came, a batch got memory
  Condition ready_;  // the consumer: the first batch is whole
  Condition idle_;   // whoever waits for the end of all fetches
  std::deque<std::unique_ptr<Work>> works_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t items_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t requests_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool closed_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool failed_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool consumer_waits_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace
