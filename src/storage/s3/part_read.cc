// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/part_read.h"

#include <array>
#include <atomic>
#include <cstring>

#include "headrace/base/mutex.h"
#include "headrace/storage/block.h"

namespace headrace::s3 {
namespace {

/// Two requests for the same bytes: the first writes where they belong, the second beside. The
/// part has come when one is good and the first writes no more.
class Part final : public Hedger::Read, public std::enable_shared_from_this<Part> {
 public:
  using Done = std::function<void(Result<PartCame>)>;

  Part(Service& service, std::string key, std::string place, const ByteRange& range, Pin pin,
       std::span<std::byte> into, Done done)
      : service_(service),
        key_(std::move(key)),
        place_(std::move(place)),
        range_(range),
        pin_(std::move(pin)),
        into_(into),
        done_(std::move(done)) {}

  void start(const std::stop_token& stop) {
    if (stop.stop_possible()) on_stop_.emplace(stop, Stop{this});
    start_leg(0, into_);
  }
  bool waits() const override { return waits_.load(std::memory_order_relaxed); }
  void hedge() override {
    {
      const MutexLock lock(mutex_);
      if (over_ || legs_[1].running || legs_[1].result) return;  // once
      auto beside = allocate(into_.size());
      if (!beside) return;
      beside_ = *std::move(beside);
      legs_[1].running = true;
    }
    start_leg(1, beside_.span());
  }

 private:
  class Get;
  struct Leg {
    bool running = false;
    std::optional<Result<PartCame>> result;
    bool good() const { return result && result->ok(); }
  };
  struct Stop {
    Part* part;
    void operator()() const {
      for (auto& stop : part->stops_) stop.request_stop();
    }
  };

  void start_leg(std::size_t index, std::span<std::byte> into);

  void arrived(std::size_t index, Result<PartCame> result) {
    const std::size_t other = 1 - index;
    std::optional<Result<PartCame>> came;
    bool give_up_other = false;
    bool beside = false;
    {
      const MutexLock lock(mutex_);
      Leg& first = legs_[0];
      Leg& second = legs_[1];
      legs_.at(index).running = false;
      legs_.at(index).result = std::move(result);
      if (over_) return;
      over_ = first.good() || (!first.running && (second.good() || !second.running));
      if (!over_ && !legs_.at(index).good()) return;  // the other may yet
      give_up_other = legs_.at(other).running;
      beside = !first.good() && second.good();
      if (over_) came = std::move(legs_.at(beside ? 1 : 0).result);
    }
    waits_ = false;
    if (give_up_other) stops_.at(other).request_stop();
    if (!came) return;  // the second came first: once the first is silent
    on_stop_.reset();
    if (beside) std::memcpy(into_.data(), beside_.span().data(), into_.size());
    done_(*std::move(came));
  }

  Service& service_;
  const std::string key_;
  const std::string place_;
  const ByteRange range_;
  const Pin pin_;
  const std::span<std::byte> into_;
  const Done done_;
  std::atomic<bool> waits_{true};
  std::array<std::stop_source, 2> stops_;
  std::optional<std::stop_callback<Stop>> on_stop_;
  Buffer beside_;  // of the second, from before it starts
  Mutex mutex_;
  bool over_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::array<Leg, 2> legs_ HEADRACE_GUARDED_BY(mutex_){Leg{.running = true}, Leg{}};
};

class Part::Get final : public RangeGet {
 public:
  Get(std::shared_ptr<Part> part, std::size_t index, std::span<std::byte> into)
      : RangeGet(part->service_, part->key_, part->place_, Span{.range = part->range_}, part->pin_),
        part_(std::move(part)),
        index_(index),
        into_(into) {}

 private:
  Result<std::span<std::byte>> room(std::uint64_t /*length*/) override { return into_; }
  void began() override {
    begin_ = std::chrono::steady_clock::now();
    if (index_ == 1) {
      if (attempt() == 1) service().context().metrics->add(Metric::hedges, 1);
    } else if (Hedger* hedger = service().part_hedger(); hedger != nullptr) {
      hedger->began(part_);
    }
  }
  // A part is judged by when it is whole: slow ones may begin in time.
  void first_byte(Nanos /*latency*/) override {}
  void finish(Result<Answer> answer) override {
    if (!answer) return part_->arrived(index_, std::move(answer).error());
    if (Hedger* hedger = service().part_hedger(); hedger != nullptr)
      hedger->came(std::chrono::steady_clock::now() - begin_);
    part_->arrived(index_, PartCame{found(), of_object()});
  }

  const std::shared_ptr<Part> part_;
  const std::size_t index_;
  const std::span<std::byte> into_;
  std::chrono::steady_clock::time_point begin_;
};

void Part::start_leg(std::size_t index, std::span<std::byte> into) {
  service_.start(std::make_unique<Get>(shared_from_this(), index, into),
                 stops_.at(index).get_token());
}

}  // namespace

void start_part(Service& service, const std::string& key, const std::string& place,
                const ByteRange& range, const Pin& pin, std::span<std::byte> into,
                const std::stop_token& stop, std::function<void(Result<PartCame>)> done) {
  std::make_shared<Part>(service, key, place, range, pin, into, std::move(done))->start(stop);
}

}  // namespace headrace::s3
