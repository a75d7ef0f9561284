// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/race.h"

#include <array>
#include <atomic>

#include "headrace/base/mutex.h"
#include "headrace/storage/block.h"

namespace headrace::s3 {
namespace {

/// Into a buffer of its own.
class WholeRead : public RangeGet {
 public:
  WholeRead(Service& service, const std::string& key, const std::string& place, Span span,
            std::optional<Pin> pin, ReadDone done)
      : RangeGet(service, key, place, span, std::move(pin)), done_(std::move(done)) {}

 private:
  Result<std::span<std::byte>> room(std::uint64_t length) override {
    HEADRACE_TRY(buffer_, allocate(length));
    return buffer_.span();
  }
  void finish(Result<Answer> answer) override {
    if (!answer) return done_(std::move(answer).error());
    const auto size = static_cast<std::size_t>(nothing() ? 0 : filled());
    done_(ReadResult{std::move(buffer_).freeze(size), found()});
  }

  Buffer buffer_;
  ReadDone done_;
};

/// A read that may be sent a second time when it is slow to begin: the first good answer counts,
/// the other is given up. An error counts when no other is left.
class Race final : public Hedger::Read, public std::enable_shared_from_this<Race> {
 public:
  Race(Service& service, std::string key, std::string place, Span span, std::optional<Pin> pin,
       ReadDone done)
      : service_(service),
        key_(std::move(key)),
        place_(std::move(place)),
        span_(span),
        pin_(std::move(pin)),
        done_(std::move(done)) {}

  void start(const std::stop_token& stop) {
    if (stop.stop_possible()) on_stop_.emplace(stop, Stop{this});
    start_leg(0);
  }
  bool waits() const override { return waits_.load(std::memory_order_relaxed); }
  void hedge() override {
    {
      const MutexLock lock(mutex_);
      if (over_ || started_ > 1) return;
      ++started_;
      ++running_;
    }
    start_leg(1);
  }
  void set_waits(bool waits) { waits_.store(waits, std::memory_order_relaxed); }

 private:
  class Leg;
  struct Stop {
    Race* race;
    void operator()() const {
      for (auto& stop : race->stops_) stop.request_stop();
    }
  };

  void start_leg(std::size_t index);
  void arrived(std::size_t index, Result<ReadResult> result) {
    {
      const MutexLock lock(mutex_);
      --running_;
      if (over_) return;
      if (!result && running_ > 0) return;
      over_ = true;
    }
    stops_.at(1 - index).request_stop();
    on_stop_.reset();
    done_(std::move(result));
  }

  Service& service_;
  const std::string key_;
  const std::string place_;
  const Span span_;
  const std::optional<Pin> pin_;
  const ReadDone done_;
  std::atomic<bool> waits_{false};
  std::array<std::stop_source, 2> stops_;
  std::optional<std::stop_callback<Stop>> on_stop_;
  Mutex mutex_;
  int started_ HEADRACE_GUARDED_BY(mutex_) = 1;
  int running_ HEADRACE_GUARDED_BY(mutex_) = 1;
  bool over_ HEADRACE_GUARDED_BY(mutex_) = false;
};

class Race::Leg final : public WholeRead {
 public:
  Leg(std::shared_ptr<Race> race, std::size_t index)
      : WholeRead(
            race->service_, race->key_, race->place_, race->span_, race->pin_,
            [race, index](Result<ReadResult> result) { race->arrived(index, std::move(result)); }),
        race_(std::move(race)),
        first_(index == 0) {}

 private:
  void began() override {
    if (!first_) {
      if (attempt() == 1) race_->service_.context().metrics->add(Metric::hedges, 1);
      return;
    }
    race_->set_waits(true);
    if (Hedger* hedger = race_->service_.hedger(); hedger != nullptr) hedger->began(race_);
  }
  void first_byte(Nanos latency) override {
    race_->set_waits(false);
    WholeRead::first_byte(latency);
  }

  const std::shared_ptr<Race> race_;
  const bool first_;
};

void Race::start_leg(std::size_t index) {
  service_.start(std::make_unique<Leg>(shared_from_this(), index), stops_.at(index).get_token());
}

}  // namespace

void start_whole_read(Service& service, std::string key, std::string place, Span span,
                      std::optional<Pin> pin, const std::stop_token& stop, ReadDone done) {
  if (service.hedger() != nullptr && pin) {
    return std::make_shared<Race>(service, std::move(key), std::move(place), span, std::move(pin),
                                  std::move(done))
        ->start(stop);
  }
  service.start(std::make_unique<WholeRead>(service, std::move(key), std::move(place), span,
                                            std::move(pin), std::move(done)),
                stop);
}

}  // namespace headrace::s3
