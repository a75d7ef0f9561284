// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/loader/feed.h"
#include "headrace/records/frames.h"
#include "headrace/storage/part_reader.h"
#include "headrace/storage/store.h"

namespace headrace {
namespace {

constexpr std::uint64_t kRunBytes = 1U << 20U;

/// Requests for ranges that lie side by side in one object.
struct Run {
  struct Part {
    std::uint64_t length = 0;
    FeedDone done;
  };
  std::string key;
  Pin pin;
  ByteRange range;
  std::stop_token stop;
  std::vector<Part> parts;

  bool goes_on_with(const Extent& extent) const {
    return !parts.empty() && extent.key == key && extent.pin == pin &&
           extent.range.offset == range.offset + range.length &&
           range.length + extent.range.length <= kRunBytes;
  }
};

class StoreFeed final : public Feed {
 public:
  StoreFeed(Store& store, const Dataset& dataset)
      : store_(store), dataset_(dataset), parts_(part_reader(store)) {}

  void fetch(const FeedRequest& request, FeedDone done) override {
    Extent extent = dataset_.locate(request.sample);
    Run run{.key = std::move(extent.key),
            .pin = std::move(extent.pin),
            .range = extent.range,
            .stop = request.stop};
    run.parts.push_back({run.range.length, std::move(done)});
    const bool whole_object = run.range.offset == 0 && run.range.length == run.pin.size;
    if (request.out_of_order || request.fresh || whole_object) {
      return start(std::move(run), request.fresh);
    }
    start(join(std::move(run)), false);
  }

  void fetch_parts(const FeedRequest& request, const std::shared_ptr<const WantedParts>& wanted,
                   FrameDone done) override {
    if (parts_ == nullptr) return Feed::fetch_parts(request, wanted, std::move(done));
    Extent extent = dataset_.locate(request.sample);
    ReadRequest read{.key = std::move(extent.key),
                     .range = extent.range,
                     .pin = std::move(extent.pin),
                     .stop = request.stop};
    parts_->read_parts(std::move(read), wanted,
                       [this, request, done = std::move(done)](Result<std::optional<Bytes>> got) {
                         if (!got) return done(std::move(got).error());
                         if (*got)
                           return done(FetchedFrame{.bytes = **std::move(got), .whole = false});
                         FeedRequest alone = request;
                         alone.out_of_order = true;  // nobody may flush after it
                         Feed::fetch_parts(alone, nullptr, done);
                       });
  }
  bool reads_parts() const override { return parts_ != nullptr; }

  Result<Sample> parse(SampleId sample, const Bytes& frame) const override {
    return dataset_.parse(sample, frame);
  }

  void flush() override {
    Run run;
    {
      const MutexLock lock(mutex_);
      run = std::exchange(held_, {});
    }
    start(std::move(run), false);
  }

  void hint(std::span<const SampleId> next) override {
    std::vector<Wanted> wanted;
    wanted.reserve(next.size());
    for (const SampleId sample : next) {
      Extent extent = dataset_.locate(sample);
      wanted.push_back({std::move(extent.key), extent.range, std::move(extent.pin)});
    }
    store_.hint(wanted);
  }

  bool random_access() const override { return true; }

 private:
  /// Adds `next` to the run that is held back, or holds it back and returns the run before.
  Run join(Run next) {
    const MutexLock lock(mutex_);
    if (held_.goes_on_with({next.key, next.pin, next.range})) {
      held_.range.length += next.range.length;
      held_.parts.push_back(std::move(next.parts.front()));
      return {};
    }
    return std::exchange(held_, std::move(next));
  }

  void start(Run run, bool fresh) {
    if (run.parts.empty()) return;
    ReadRequest request{.key = std::move(run.key),
                        .range = run.range,
                        .pin = std::move(run.pin),
                        .fresh = fresh,
                        .stop = std::move(run.stop)};
    auto parts = std::make_shared<std::vector<Run::Part>>(std::move(run.parts));
    store_.read(std::move(request), [parts](const Result<ReadResult>& got) {
      std::uint64_t offset = 0;
      for (const Run::Part& part : *parts) {
        if (got) {
          part.done(got->bytes.slice(offset, part.length));
        } else {
          part.done(Error(got.error()));
        }
        offset += part.length;
      }
    });
  }

  Store& store_;
  const Dataset& dataset_;
  PartReader* const parts_;  ///< null: the store has none
  Mutex mutex_;
  Run held_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Feed> make_store_feed(Store& store, const Dataset& dataset) {
  return std::make_unique<StoreFeed>(frames_of(dataset, store), dataset);
}

}  // namespace headrace
