// SPDX-License-Identifier: Apache-2.0
/// \file Goes through a whole set: can every sample be read, is it a picture, is it there twice?
///
/// Many samples at a time; the report does not depend on how many. Private memory does not grow
/// with the set. If a decoder is given, it has the word on every picture, as in training; else one
/// is known by its first bytes and its structure up to its end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/dataset.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/store.h"

namespace headrace {

struct PictureSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct DecodedPicture {
  PictureSize size;
  std::vector<std::string> warnings;  ///< what it was decoded in spite of
};

struct VerifyOptions {
  ReadAheadOptions reading;
  unsigned jobs = 1;
  /// Decodes a whole picture; `corrupt` says why not. Called from many threads. May be empty.
  std::function<Result<DecodedPicture>(ByteSpan picture)> decode;
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

/// A picture that decodes, and that someone should look at all the same.
struct OddPicture {
  enum class Kind { smallest, largest, stretched };
  Kind kind = Kind::smallest;
  std::uint64_t sample = 0;
  std::string name;
  std::uint64_t bytes = 0;
  PictureSize size;  ///< 0 × 0 if nothing was decoded
};

struct VerifyReport {
  static constexpr std::size_t kListed = 1000;
  static constexpr std::size_t kOdd = 8;

  std::uint64_t samples = 0;
  std::uint64_t good = 0;
  bool decoded = false;  ///< every picture was
  std::uint64_t payload_bytes = 0;
  std::uint64_t smallest = 0, largest = 0;  ///< payload bytes of good samples
  /// Good samples by payload bytes: how many have from 2^i to less than 2^(i+1).
  std::array<std::uint64_t, 40> sizes{};
  std::map<std::string, std::uint64_t> kinds;  ///< of pictures
  std::map<float, std::uint64_t> labels;       ///< first label → samples; at most 100,000
  std::uint64_t unlabelled = 0;
  std::vector<std::string> empty_classes;  ///< of the set's class list, without a good sample
  std::uint64_t bad = 0;
  std::vector<BadSample> first_bad;         ///< at most kListed
  std::uint64_t repeated = 0;               ///< samples whose picture came before
  std::vector<SameContent> first_repeated;  ///< at most kListed, those with most copies first
  std::vector<OddPicture> odd;              ///< at most kOdd of each kind, the oddest first
  std::string missing;                      ///< what the set's own numbering says is not there
  Hash128 set_digest;                       ///< of good samples, as the loader computes it

  bool clean() const { return bad == 0 && missing.empty(); }
};

/// Fails only if the store does: what is wrong with samples is in the report. `context` is the one
/// that the set was opened with: the notice "shards-missing" makes a set not clean.
Result<VerifyReport> verify(Store& store, const Dataset& set, const VerifyOptions& options,
                            const Context& context);

}  // namespace headrace
