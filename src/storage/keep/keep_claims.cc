// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headrace/storage/keep/engine.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;

/// Between looks at what others wrote: seldom enough to cost little, often enough that no read
/// waits long for its turn.
constexpr Nanos kLookEvery = 5ms;
/// While nothing new is asked for.
constexpr Nanos kLookAgain = 20ms;

}  // namespace

/// Sends the flight to the origin if nobody else does. Who is alone need not look.
void Engine::claim(const FlightPtr& flight) {
  if (!usable() || full_ || flight->request.fresh || flight->stop.stop_requested())
    return launch(flight);
  flight->claimed = claims_.take(flight->id);
  if (flight->claimed && claims_.is_alone()) return launch(flight);
  {
    const MutexLock lock(mutex_);
    if (!closing_) {
      --at_origin_;
      undecided_.push_back(flight);
      ++claims_asked_;
      claimable_.notify_one();
      return;
    }
  }
  launch(flight);
}

void Engine::drop_claim(const FlightPtr& flight) {
  if (flight->claimed.exchange(false)) claims_.drop(flight->id);
}

/// The body of the thread that looks whether others have fetched what is wanted here.
void Engine::mind_claims() {
  std::uint64_t seen = 0;
  while (true) {
    std::vector<FlightPtr> flights;
    {
      MutexLock lock(mutex_);
      while (claims_asked_ == seen && !written_out_) {
        if (undecided_.empty()) {
          lock.wait(claimable_);
        } else if (!lock.wait_until(claimable_, std::chrono::steady_clock::now() + kLookAgain)) {
          break;
        }
      }
      if (written_out_) return;
      seen = claims_asked_;
      flights.assign(undecided_.begin(), undecided_.end());
    }
    decide(flights);
    std::this_thread::sleep_for(kLookEvery);
  }
}

/// First the claims, then a look at the logs: whoever had a claim before wrote its entry before it
/// let go, so what is not there now nobody has fetched.
void Engine::decide(std::span<const FlightPtr> flights) {
  for (const FlightPtr& flight : flights)
    if (!flight->claimed) flight->claimed = claims_.take(flight->id);
  if (usable()) learn();
  const Nanos now = context_.clock->now();
  Nanos patience{0};
  {
    const MutexLock lock(mutex_);
    patience = others_.limit();
    // As long as an own request of the same age has no answer, a second one would have none.
    if (!departures_.empty()) patience = std::max(patience, now - *departures_.begin());
  }
  bool ran_out = false;
  for (const FlightPtr& flight : flights) {
    const auto parts = cache_.find(flight->id.object, flight->id.offset, flight->id.length);
    if (!flight->refused_since) flight->refused_since = now;
    const bool late = now - *flight->refused_since > patience;
    const bool go = flight->claimed || late || !usable() || flight->stop.stop_requested();
    if ((!parts && !go) || !take_undecided(flight)) continue;
    ran_out = ran_out || (late && !parts && !flight->claimed);
    if (parts && usable()) {
      serve(flight, *parts);
    } else {
      launch(flight);
    }
  }
  const MutexLock lock(mutex_);
  if (ran_out) others_.ran_out();
}

/// False if someone else decided already.
bool Engine::take_undecided(const FlightPtr& flight) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(undecided_, flight);
  if (found == undecided_.end()) return false;
  undecided_.erase(found);
  ++at_origin_;
  return true;
}

void Engine::launch_undecided() {
  std::deque<FlightPtr> flights;
  {
    const MutexLock lock(mutex_);
    flights = std::exchange(undecided_, {});
    at_origin_ += flights.size();
  }
  for (const FlightPtr& flight : flights) launch(flight);
}

/// Another process fetched it: its readers read it from the disk.
void Engine::serve(const FlightPtr& flight, const Parts& parts) {
  std::vector<Waiter> waiters;
  {
    const MutexLock lock(mutex_);
    forget(flight);
    waiters = std::exchange(flight->waiters, {});
    others_.paid_off();
  }
  drop_claim(flight);
  ++shared_;
  for (Waiter& waiter : waiters) {
    waiter.on_stop.reset();
    auto read = std::make_unique<DiskRead>();
    read->id = flight->id;
    read->request = flight->request;
    read->request.stop = waiter.stop;
    read->done = std::move(waiter.done);
    read->parts = parts;
    pool_.push(std::move(read));
  }
  const MutexLock lock(mutex_);
  --at_origin_;
  idle_.notify_all();
}

}  // namespace headrace::keep
