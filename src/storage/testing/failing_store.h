// SPDX-License-Identifier: Apache-2.0
/// \file A Store that fails on order: any call, the k-th, or with a seeded probability.
///
/// Thread-safe, if the plan is. Example:
///
///     FailingStore store(memory, fail_kth(Call::Kind::read, 2, Code::unavailable));
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "headrace/storage/store.h"

namespace headrace::testing {

struct Call {
  enum class Kind { head, list, read, create, append, finish, remove, count_ };
  Kind kind;
  std::string key;
  std::uint64_t number = 0;  ///< of calls of this kind before it
};

struct Fault {
  enum class Kind {
    error,    ///< the call fails with `code`
    corrupt,  ///< a read succeeds, one bit is wrong
    shorten,  ///< a read succeeds, the last byte is missing
  };
  Kind kind = Kind::error;
  Code code = Code::unavailable;
};

/// Asked once for each call; nothing: the call goes through.
using FaultPlan = std::function<std::optional<Fault>(const Call&)>;

/// `k` counts from 0.
FaultPlan fail_kth(Call::Kind kind, std::uint64_t k, Fault fault);
/// A pure function of seed, kind and number.
FaultPlan fail_with_probability(Call::Kind kind, double probability, std::uint64_t seed,
                                Fault fault);
/// Each call on this key.
FaultPlan fail_key(std::string key, Fault fault);

class FailingStore final : public Store {
 public:
  /// `below` outlives this.
  FailingStore(Store& below, FaultPlan plan) : below_(below), plan_(std::move(plan)) {}

  std::string describe() const override { return below_.describe(); }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override;
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override;
  void read(ReadRequest request, ReadDone done) override;
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override;
  Result<void> remove(const std::string& key, const std::stop_token& stop) override;
  void hint(std::span<const Wanted> wanted) override { below_.hint(wanted); }

  std::uint64_t calls(Call::Kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t faults() const { return faults_; }

 private:
  class Writer;

  std::optional<Fault> ask(Call::Kind kind, const std::string& key);
  Result<void> pass(Call::Kind kind, const std::string& key);

  Store& below_;
  const FaultPlan plan_;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Call::Kind::count_)> counts_{};
  std::atomic<std::uint64_t> faults_{0};
};

}  // namespace headrace::testing
