// SPDX-License-Identifier: Apache-2.0
/// \file What goes wrong on bad days, by name and by how often: a plan for the S3 test server.
///
/// The plan is thread-safe. Draws are a function of the seed and the request's number, so that a
/// run can be repeated as far as requests come in the same order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/storage/testing/s3_test_server.h"

namespace headrace::testing {

/// Name → share of the requests that it befalls, 0 to 1.
using FaultRates = std::map<std::string, double>;

/// Names with what they do, one a line; for --help.
std::string fault_names();

class S3Faults {
 public:
  /// `invalid` for a name that is none, or a rate that is no share.
  static Result<std::shared_ptr<S3Faults>> make(const FaultRates& rates, std::uint64_t seed);

  void befall(const S3Seen& request, HttpAnswer& right);
  /// How often each happened so far.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  using Fault = void (*)(const S3Seen& request, HttpAnswer& right);
  struct Rate {
    std::string name;
    Fault fault = nullptr;
    double rate = 0;
    std::uint64_t burst = 1;  ///< so many requests in a row have one draw
  };
  explicit S3Faults(std::uint64_t seed) : seed_(seed) {}

  const std::uint64_t seed_;
  std::vector<Rate> rates_;
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> counts_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace::testing
