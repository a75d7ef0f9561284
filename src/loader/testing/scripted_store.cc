// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/testing/scripted_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/base/random.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace::testing {

ScriptedStore::ScriptedStore(unsigned threads, std::uint64_t seed)
    : ForwardingStore(memory_), turn_(seed) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
}

ScriptedStore::~ScriptedStore() {
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
}

void ScriptedStore::fail(const std::string& key, Code code, int times, bool heals) {
  const MutexLock lock(mutex_);
  faults_[key] = {code, times, heals};
}

void ScriptedStore::hold(const std::string& key) {
  const MutexLock lock(mutex_);
  holds_.push_back(key);
}

void ScriptedStore::resume() {
  const MutexLock lock(mutex_);
  holds_.clear();
  changed_.notify_all();
}

std::vector<ReadRequest> ScriptedStore::reads() const {
  const MutexLock lock(mutex_);
  return reads_;
}

std::size_t ScriptedStore::most_in_flight() const {
  const MutexLock lock(mutex_);
  return most_;
}

std::vector<Wanted> ScriptedStore::hints() const {
  const MutexLock lock(mutex_);
  return hints_;
}

void ScriptedStore::hint(std::span<const Wanted> wanted) {
  const MutexLock lock(mutex_);
  hints_.insert(hints_.end(), wanted.begin(), wanted.end());
}

bool ScriptedStore::held(const ReadRequest& request) const {
  return std::any_of(holds_.begin(), holds_.end(), [&request](const std::string& key) {
    return key.empty() || key == request.key;
  });
}

void ScriptedStore::read(ReadRequest request, ReadDone done) {
  {
    const MutexLock lock(mutex_);
    reads_.push_back(request);
    most_ = std::max(most_, ++in_flight_);
    if (!threads_.empty()) {
      pending_.push_back({std::move(request), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  answer({std::move(request), std::move(done)});
}

/// A read that may be answered now, if there is one; the order is not that of the requests.
std::optional<ScriptedStore::Pending> ScriptedStore::choose() {
  turn_ = mix64(turn_);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const std::size_t at = (turn_ + i) % pending_.size();
    const ReadRequest& request = pending_[at].request;
    if (held(request) && !request.stop.stop_requested()) continue;
    auto chosen = std::move(pending_[at]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    return chosen;
  }
  return std::nullopt;
}

void ScriptedStore::serve(const std::stop_token& stop) {
  for (;;) {
    std::optional<Pending> mine;
    {
      MutexLock lock(mutex_);
      for (mine = choose(); !mine; mine = choose()) {
        if (pending_.empty() && stop.stop_requested()) return;
        // A held read looks at its stop now and then: there is no callback to miss.
        lock.wait_until(changed_, std::chrono::steady_clock::now() + std::chrono::milliseconds(2));
      }
    }
    answer(*std::move(mine));
  }
}

std::optional<Error> ScriptedStore::fault_of(const ReadRequest& request) {
  const MutexLock lock(mutex_);
  const auto found = faults_.find(request.key);
  if (found == faults_.end() || found->second.times == 0) return std::nullopt;
  if (request.fresh && found->second.heals) return std::nullopt;
  if (found->second.times > 0) --found->second.times;
  return Error(found->second.code, "as the test wrote").at(request.key);
}

void ScriptedStore::answer(Pending pending) {
  auto fault = fault_of(pending.request);
  if (pending.request.stop.stop_requested()) fault = Error(Code::cancelled, "stopped");
  {
    const MutexLock lock(mutex_);
    --in_flight_;
  }
  if (fault) return pending.done(*std::move(fault));
  memory_.read(std::move(pending.request), std::move(pending.done));
}

FixedRecords::FixedRecords(Store& store, std::uint64_t count, std::uint64_t record_bytes)
    : count_(count), record_bytes_(record_bytes), classes_{"0", "1", "2"} {
  const std::string content = pattern(count, count * record_bytes);
  pin_ = *put(store, "records", as_byte_span(content), {});
}

Extent FixedRecords::locate(SampleId id) const {
  return {"records", pin_, {static_cast<std::uint64_t>(id) * record_bytes_, record_bytes_}};
}

Result<Sample> FixedRecords::parse(SampleId id, const Bytes& frame) const {
  return Sample{{static_cast<float>(static_cast<std::uint64_t>(id) % 3)}, frame};
}

std::string FixedRecords::name(SampleId id) const {
  return fmt::format("records#{}", static_cast<std::uint64_t>(id));
}

}  // namespace headrace::testing
