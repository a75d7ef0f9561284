// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/shaped/shaped_store.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/shaped/rate.h"

namespace headrace {
namespace {

constexpr double kNanosPerMs = 1e6;
constexpr double kBytesPerMB = 1e6;

double nanos(Nanos time) { return static_cast<double>(time.count()); }

/// One read on its way. Fields are guarded by the store's mutex until it is taken for delivery.
struct Flight {
  ReadDone done;
  std::string place;
  double first_byte = 0;
  double last_piece = 0;  ///< no earlier end: the last of its requests got its first byte then
  std::optional<Result<ReadResult>> answer;  ///< of the store beneath
  bool sent = false;                         ///< handed to `done`, or about to be
  bool armed = false;                        ///< `on_stop` is in place; before, it only notes
  bool stopped = false;
  std::stop_source stop;  ///< of the read beneath
  struct Stop {
    std::function<void()> call;
    void operator()() const { call(); }
  };
  std::optional<std::stop_callback<Stop>> on_stop;
};
using FlightPtr = std::shared_ptr<Flight>;

class ShapedStore final : public ForwardingStore<> {
 public:
  ShapedStore(Store& base, Medium medium, const Context& context, std::uint64_t seed)
      : ForwardingStore(base),
        medium_(std::move(medium)),
        clock_(*context.clock),
        pace_(medium_, seed) {
    timer_ = std::jthread([this] { run(); });
  }

  ~ShapedStore() override {
    std::vector<FlightPtr> open;
    {
      const MutexLock lock(mutex_);
      open.assign(flights_.begin(), flights_.end());
    }
    for (const FlightPtr& flight : open) cancel(flight);
    {
      MutexLock lock(mutex_);
      while (!flights_.empty()) lock.wait(idle_);
      closing_ = true;
      wake_.request_stop();
    }
    timer_.join();
  }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    const double ready = metadata_ready();
    auto info = below().head(key, stop);
    HEADRACE_TRY(wait_until(ready, stop));
    return info;
  }

  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    double ready = metadata_ready();
    return below().list(request, stop, [&](ListPage&& page) -> Result<bool> {
      HEADRACE_TRY(wait_until(ready, stop));
      auto more = sink(std::move(page));
      ready = metadata_ready();
      return more;
    });
  }

  void read(ReadRequest request, ReadDone done) override {
    if (request.range.length == 0) return below().read(std::move(request), std::move(done));
    auto flight = std::make_shared<Flight>();
    flight->done = std::move(done);
    flight->place = object_place(below().describe(), request.key);
    {
      const MutexLock lock(mutex_);
      admit(*flight, pieces(request));
      flight->first_byte = std::max(flight->first_byte, loaded_at(request));
      flights_.insert(flight);
      if (medium_.one_stream) stream_.push_back(flight);
    }
    flight->on_stop.emplace(request.stop, Flight::Stop{[this, flight] { cancel(flight); }});
    {
      const MutexLock lock(mutex_);
      flight->armed = true;
      if (flight->stopped) cancel_armed(flight);
    }
    request.stop = flight->stop.get_token();
    below().read(std::move(request), [this, flight](Result<ReadResult> answer) {
      const MutexLock lock(mutex_);
      flight->answer = std::move(answer);
      flight->first_byte = std::max(flight->first_byte, nanos(clock_.now()));
      if (flight->sent) {
        finish(flight);
      } else if (!medium_.one_stream) {
        schedule(flight, flight->first_byte);
      }
      if (medium_.one_stream) schedule_stream();
    });
  }

 private:
  /// How many requests of the medium one read is.
  double pieces(const ReadRequest& request) HEADRACE_REQUIRES(mutex_) {
    std::uint64_t length = request.range.length;
    if (length == ByteRange::kToEnd && request.pin)
      length = request.pin->size - std::min(request.pin->size, request.range.offset);
    if (length == ByteRange::kToEnd) return 1;
    return pace_.requests_of(static_cast<double>(length));
  }

  void admit(Flight& flight, double requests) HEADRACE_REQUIRES(mutex_) {
    const auto start = pace_.start(nanos(clock_.now()), requests);
    flight.first_byte = start.first_byte;
    flight.last_piece = start.last_piece;
  }

  /// When the whole object lies on the medium. The first read of it begins its loading.
  double loaded_at(const ReadRequest& request) HEADRACE_REQUIRES(mutex_) {
    if (medium_.load_first_byte_ms <= 0 && medium_.load_rate_MBps <= 0) return 0;
    const auto [at, first] = loaded_.try_emplace(hash_bytes(as_byte_span(request.key)).low, 0);
    if (!first) return at->second;
    double time = medium_.load_first_byte_ms * kNanosPerMs;
    if (medium_.load_rate_MBps > 0 && request.pin)
      time += static_cast<double>(request.pin->size) * 1e9 / (medium_.load_rate_MBps * kBytesPerMB);
    return at->second = nanos(clock_.now()) + time;
  }

  double metadata_ready() {
    const MutexLock lock(mutex_);
    return pace_.metadata(nanos(clock_.now()));
  }

  Result<void> wait_until(double ready, const std::stop_token& stop) {
    if (!clock_.sleep_until(Nanos(std::llround(ready)), stop))
      return Error(Code::cancelled, "stopped").at(below().describe());
    return {};
  }

  /// One stream: what was asked for first is sent first, whatever the store beneath does.
  void schedule_stream() HEADRACE_REQUIRES(mutex_) {
    std::size_t ready = 0;
    while (ready < stream_.size() && (stream_[ready]->answer || stream_[ready]->sent)) ++ready;
    for (std::size_t i = 0; i < ready; ++i) {
      const FlightPtr& flight = stream_[i];
      if (flight->sent) continue;
      stream_from_ = std::max(stream_from_, flight->first_byte);
      schedule(flight, stream_from_);
    }
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(ready));
  }

  void schedule(const FlightPtr& flight, double at) HEADRACE_REQUIRES(mutex_) {
    events_.emplace(std::pair(at, number_++), Event{flight, false});
    wake_.request_stop();
  }

  void cancel(const FlightPtr& flight) {
    {
      const MutexLock lock(mutex_);
      flight->stopped = true;
      if (flight->armed) cancel_armed(flight);
    }
    flight->stop.request_stop();
  }

  void cancel_armed(const FlightPtr& flight) HEADRACE_REQUIRES(mutex_) {
    if (flight->sent) return;
    cancelled_.push_back(flight);
    wake_.request_stop();
  }

  void finish(const FlightPtr& flight) HEADRACE_REQUIRES(mutex_) {
    flights_.erase(flight);
    if (flights_.empty()) idle_.notify_all();
  }

  struct Event {
    FlightPtr flight;
    bool last_byte;
  };

  /// The first byte is there: how long the rest takes.
  double last_byte(const Flight& flight, double now) HEADRACE_REQUIRES(mutex_) {
    if (!flight.answer->ok()) return now;
    const auto size = static_cast<double>((*flight.answer)->bytes.size());
    return std::max(pace_.last_byte(now, size), flight.last_piece);
  }

  /// What is to be delivered now.
  std::vector<FlightPtr> take_due() HEADRACE_REQUIRES(mutex_) {
    std::vector<FlightPtr> due;
    for (FlightPtr& flight : std::exchange(cancelled_, {})) {
      if (flight->sent) continue;
      flight->sent = true;
      due.push_back(std::move(flight));
    }
    const double now = nanos(clock_.now()) + 0.5;  // times are rounded to the nanosecond
    while (!events_.empty() && events_.begin()->first.first <= now) {
      const auto node = events_.extract(events_.begin());
      const Event& event = node.mapped();
      if (event.flight->sent) continue;
      if (!event.last_byte) {
        const double end = last_byte(*event.flight, node.key().first);
        events_.emplace(std::pair(end, number_++), Event{event.flight, true});
        continue;
      }
      event.flight->sent = true;
      due.push_back(event.flight);
    }
    return due;
  }

  void run() {
    while (true) {
      std::vector<FlightPtr> due;
      std::stop_token woken;
      Nanos next = Nanos::max();
      {
        const MutexLock lock(mutex_);
        if (closing_) return;
        due = take_due();
        wake_ = std::stop_source();
        woken = wake_.get_token();
        if (!events_.empty()) next = Nanos(std::llround(events_.begin()->first.first));
      }
      for (const FlightPtr& flight : due) deliver(flight);
      if (due.empty()) clock_.sleep_until(next, woken);
    }
  }

  void deliver(const FlightPtr& flight) {
    flight->on_stop.reset();  // waits for a stop that is just being handled; takes our lock
    bool answered = false;
    Result<ReadResult> answer = Error(Code::cancelled, "stopped").at(flight->place);
    {
      const MutexLock lock(mutex_);
      answered = flight->answer.has_value();
      if (answered && !flight->stopped) answer = *std::move(flight->answer);
    }
    std::exchange(flight->done, nullptr)(std::move(answer));
    const MutexLock lock(mutex_);
    if (flight->answer) finish(flight);  // else the store beneath still holds it
  }

  const Medium medium_;
  Clock& clock_;

  Mutex mutex_;
  Condition idle_;
  ReadPace pace_ HEADRACE_GUARDED_BY(mutex_);
  /// By a hash of the key; 40 bytes an object, of media that load only.
  std::unordered_map<std::uint64_t, double> loaded_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t number_ HEADRACE_GUARDED_BY(mutex_) = 0;
  double stream_from_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::set<FlightPtr> flights_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<FlightPtr> stream_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<FlightPtr> cancelled_ HEADRACE_GUARDED_BY(mutex_);
  std::map<std::pair<double, std::uint64_t>, Event> events_ HEADRACE_GUARDED_BY(mutex_);
  std::stop_source wake_ HEADRACE_GUARDED_BY(mutex_);
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::jthread timer_;
};

}  // namespace

std::unique_ptr<Store> make_shaped_store(Store& base, const Medium& medium, const Context& context,
                                         std::uint64_t seed) {
  return std::make_unique<ShapedStore>(base, medium, context, seed);
}

}  // namespace headrace
