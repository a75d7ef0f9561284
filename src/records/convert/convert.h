// SPDX-License-Identifier: Apache-2.0
/// \file A data set written in another format: same samples, same order, same bytes of pictures.
///
/// Record i is sample i of the source, so that both give equal order digests wherever the format
/// keeps an order. What is written depends on the source's samples and on the options only, never
/// on jobs or on time: the same input gives the same bytes. Pictures pass through untouched, even
/// empty ones, unless `change` is given. Beside the shards stands `KEY.classes.txt`, if the source
/// has class names.
///
/// Shards are written side by side. What is finished is remembered in the destination, below
/// `.headrace/convert/`, until all is (receipts.h): the same call goes on after a kill, and several
/// machines may each write a part.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/records/dataset.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/store.h"

namespace headrace {

/// Counts that may be read from another thread while the work runs.
struct WorkProgress {
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> bytes{0};
};

/// What is done to each picture. `text` names it and all of its parameters: "resize 256 quality
/// 90".
struct PictureChange {
  std::string text;
  /// Called from many threads. `corrupt` if the picture cannot be decoded.
  std::function<Result<Bytes>(const Bytes& picture)> apply;
};

struct ConvertOptions {
  std::string format = "recordio";  ///< one that formats.h can write
  std::string key;                  ///< of the output, without suffix: "train"
  std::string compression;          ///< one of the format's; empty: none
  std::uint64_t shards = 1;         ///< of about the same number of samples
  std::uint64_t shard_bytes = 0;    ///< if not 0: begin another shard before this size is passed

  double validation = 0;    ///< share of samples that go into a second set; 0: there is only one
  std::uint64_t seed = 0;   ///< chooses them
  bool stratified = false;  ///< the same share of every label

  std::uint64_t part = 1;   ///< 1 to parts: which of them this call writes
  std::uint64_t parts = 1;  ///< more than one: the set stays open until a call with `finish`
  bool finish = false;      ///< write nothing, close the set that the parts have written

  /// The destination, if it is a folder of this machine: then no second process writes the same set
  /// there, and a full volume is named (local_destination.h).
  std::string folder;

  /// How the source is read, as far as its fingerprint does not tell: part of what a conversion is.
  std::string reading_text;
  PictureChange change;
  unsigned jobs = 1;            ///< threads that work; what is written does not depend on it
  bool replace = false;         ///< false: `invalid` if there is a set of this key already
  bool skip_bad = false;        ///< leave samples out that cannot be read, and report them
  bool keep_unfinished = true;  ///< false: of a call that fails nothing stays,
                                ///< but of parts, and what an earlier call had begun
  ReadAheadOptions reading;
  WorkProgress* progress = nullptr;
  std::stop_token stop;
};

struct SkippedSample {
  std::string name;
  std::string why;
};

struct WrittenSet {
  std::string key;  ///< "train", "train/train", "validation/validation"
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
};

struct ConvertReport {
  bool complete = false;  ///< false: other parts, or `finish`, are still to come
  std::vector<WrittenSet> sets;
  std::uint64_t samples = 0;  ///< written, by this call and by those before it
  std::uint64_t skipped = 0;
  std::uint64_t payload_bytes = 0;           ///< of pictures
  std::uint64_t record_bytes = 0;            ///< of all containers
  std::uint64_t shards_found = 0;            ///< finished by calls before this one
  std::vector<std::string> keys;             ///< written, in order of shards
  std::vector<SkippedSample> first_skipped;  ///< at most kListed
  static constexpr std::size_t kListed = 1000;
};

/// What of the options can be told without a source; `convert` asks it first.
///  * `invalid`   the format cannot be written, or not so; a part that is none
Result<void> check_convert(const ConvertOptions& options);

/// With `validation` there are two sets, "train/train" and "validation/validation", whatever the
/// key. Every object appears whole or not at all.
///  * `invalid`   the format cannot be written, or not so; there is such a set already; what was
///                begun there is another conversion; another process writes it; with `finish`:
///                shards are missing, named
///  * `exhausted` the volume is full, or too small for pictures that are copied as they are
Result<ConvertReport> convert(Store& source, const Dataset& set, Store& destination,
                              const ConvertOptions& options, const Context& context);

}  // namespace headrace
