// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/inside/set_store.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/records/frames.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/sorted_list.h"

namespace headrace {
namespace {

struct Forward {
  std::stop_source to;
  void operator()() const {
    std::stop_source kept = to;  // the flight may end, and this with it, during the call
    kept.request_stop();
  }
};

/// A read below. `stop` is that of its reader, and of this store's end.
struct Flight {
  std::stop_source stop;
  std::optional<std::stop_callback<Forward>> on_stop;
};

class SetStore final : public Store {
 public:
  SetStore(Store& below, const Dataset& set, SampleNames names)
      : below_(frames_of(set, below)),
        place_("inside of " + below.describe()),
        set_(set),
        names_(std::move(names)) {}
  SetStore(const SetStore&) = delete;
  SetStore& operator=(const SetStore&) = delete;
  ~SetStore() override {
    std::vector<std::stop_source> open;
    {
      const MutexLock lock(mutex_);
      for (const auto& flight : flights_) open.push_back(flight->stop);
    }
    for (auto& stop : open) stop.request_stop();
    MutexLock lock(mutex_);
    while (!flights_.empty()) lock.wait(idle_);
  }

  std::string describe() const override { return place_; }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& /*stop*/) override {
    HEADRACE_TRY(const std::uint64_t at, find(key));
    return info(at);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return list_sorted(
        names_, [this](std::uint64_t at) { return info(at); }, request, stop, sink);
  }

  void read(ReadRequest request, ReadDone done) override {
    auto planned = plan(request);
    if (!planned) return done(std::move(planned).error());
    const Plan& plan = *planned;
    if (plan.range.length == 0) return done(ReadResult{{}, plan.pin});
    auto flight = std::make_shared<Flight>();
    {
      const MutexLock lock(mutex_);
      flights_.insert(flight);
    }
    flight->on_stop.emplace(request.stop, Forward{flight->stop});
    below_.read({.key = plan.frame.key,
                 .range = plan.below(),
                 .pin = plan.frame.pin,
                 .fresh = request.fresh,
                 .stop = flight->stop.get_token()},
                [this, flight, plan, key = std::move(request.key),
                 done = std::move(done)](Result<ReadResult> result) {
                  flight->on_stop.reset();
                  if (result && plan.whole()) result = take_out(*std::move(result), plan);
                  if (result) {
                    result->pin = plan.pin;
                    done(std::move(result));
                  } else {
                    done(std::move(result).error().at(object_place(place_, key)));
                  }
                  const MutexLock lock(mutex_);
                  flights_.erase(flight);
                  idle_.notify_all();
                });
  }

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& /*stop*/) override {
    return read_only(key);
  }
  Result<void> remove(const std::string& key, const std::stop_token& /*stop*/) override {
    return read_only(key);
  }

  void hint(std::span<const Wanted> wanted) override {
    std::vector<Wanted> below;
    for (const Wanted& want : wanted) {
      const auto planned = plan({.key = want.key, .range = want.range, .pin = want.pin});
      if (!planned || planned->range.length == 0) continue;
      below.push_back(
          {.key = planned->frame.key, .range = planned->below(), .pin = planned->frame.pin});
    }
    below_.hint(below);
  }

 private:
  struct Plan {
    SampleNames::Place picture;
    Extent frame;
    ByteRange range;  ///< of the picture
    Pin pin;

    /// The frame must be parsed to get at the picture.
    bool whole() const { return picture.offset == SampleNames::kUnframed; }
    /// What is read of the object below.
    ByteRange below() const {
      if (whole()) return frame.range;
      return {.offset = frame.range.offset + picture.offset + range.offset, .length = range.length};
    }
  };

  Error read_only(const std::string& key) const {
    return Error(Code::invalid, "the inside of a set is read-only").at(object_place(place_, key));
  }

  Result<std::uint64_t> find(const std::string& key) const {
    if (const auto at = names_.find(key)) return *at;
    return Error(Code::not_found, "no such sample").at(object_place(place_, key));
  }

  static Pin pin_of(const Extent& frame, const SampleNames::Place& picture) {
    Pin pin = frame.pin;
    pin.size = picture.bytes;
    return pin;
  }

  ObjectInfo info(std::uint64_t at) const {
    const auto picture = names_.place(at);
    return {.key = std::string(names_.key(at)),
            .size = picture.bytes,
            .pin = pin_of(set_.locate(picture.id), picture),
            .archived = false};
  }

  Result<Plan> plan(const ReadRequest& request) const {
    HEADRACE_TRY(const std::uint64_t at, find(request.key));
    Plan plan;
    plan.picture = names_.place(at);
    plan.frame = set_.locate(plan.picture.id);
    plan.pin = pin_of(plan.frame, plan.picture);
    const std::string place = object_place(place_, request.key);
    if (request.stop.stop_requested()) return Error(Code::cancelled, "stopped").at(place);
    if (request.pin && !same_version(*request.pin, plan.pin))
      return changed_error(*request.pin, plan.pin).at(place);
    auto range = resolve(request.range, plan.picture.bytes);
    if (!range) return std::move(range).error().at(place);
    plan.range = *range;
    return plan;
  }

  Result<ReadResult> take_out(ReadResult frame, const Plan& plan) const {
    HEADRACE_TRY(const auto sample, set_.parse(plan.picture.id, frame.bytes));
    if (sample.payload.size() != plan.picture.bytes) {
      return Error(Code::changed, "the picture has another size than when it was named",
                   "read it again, or open the set anew");
    }
    frame.bytes = sample.payload.slice(plan.range.offset, plan.range.length);
    return frame;
  }

  Store& below_;
  const std::string place_;
  const Dataset& set_;
  const SampleNames names_;
  Mutex mutex_;
  Condition idle_;
  std::set<std::shared_ptr<Flight>> flights_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Store> make_set_store(Store& below, const Dataset& set, SampleNames names) {
  return std::make_unique<SetStore>(below, set, std::move(names));
}

}  // namespace headrace
