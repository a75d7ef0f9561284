// SPDX-License-Identifier: Apache-2.0
/// \file Goes through a whole set: can every sample be read, is it a picture, is it there twice?
///
/// Nothing is decoded. Private memory does not grow with the set.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/records/dataset.h"
#include "headrace/records/pack/pack.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/store.h"

namespace headrace {

struct VerifyOptions {
  ReadAheadOptions reading;
  WorkProgress* progress = nullptr;
  std::stop_token stop;
};

struct BadSample {
  std::string name;
  std::uint64_t sample = 0;
  std::string key;  ///< of the object
  std::uint64_t begin = 0, end = 0;
  std::string why;
};

struct SameContent {
  std::uint64_t bytes = 0;
  bool labels_differ = false;
  std::vector<std::string> names;  ///< at most 10
  std::uint64_t count = 0;
};

struct VerifyReport {
  static constexpr std::size_t kListed = 1000;

  std::uint64_t samples = 0;
  std::uint64_t good = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t smallest = 0, largest = 0;     ///< payload bytes of good samples
  std::map<std::string, std::uint64_t> kinds;  ///< of pictures
  std::map<float, std::uint64_t> labels;       ///< first label → samples; at most 100,000
  std::uint64_t bad = 0;
  std::vector<BadSample> first_bad;         ///< at most kListed
  std::uint64_t repeated = 0;               ///< samples whose picture came before
  std::vector<SameContent> first_repeated;  ///< at most kListed, those with most copies first
  Hash128 set_digest;                       ///< of good samples, as the loader computes it

  bool clean() const { return bad == 0; }
};

/// Fails only if the store does: what is wrong with samples is in the report.
Result<VerifyReport> verify(Store& store, const Dataset& set, const VerifyOptions& options);

}  // namespace headrace
