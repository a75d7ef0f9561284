// SPDX-License-Identifier: Apache-2.0
/// \file Bytes in, records out, one at a time: for files, objects, FIFOs and inflated streams.
///
/// Not thread-safe: one reader, one thread. The example stands in recordio/reader.h, whose calls
/// are the same.
#pragma once

#include <cstdint>
#include <optional>

#include "headrace/records/byte_source.h"
#include "headrace/records/damage.h"

namespace headrace::tfrecord {

struct Record {
  std::uint64_t offset = 0;  ///< of the frame
  std::uint64_t frame_bytes = 0;
  Bytes data;  ///< shares the source's piece where it can
};

class RecordReader {
 public:
  /// The source must outlive the reader; its first byte stands at `begin`.
  explicit RecordReader(ByteSource& source, std::uint64_t begin = 0)
      : window_(source, begin), at_(begin) {}

  ///  * a record    both its CRCs are right
  ///  * nothing     the source ended cleanly
  ///  * an error    and every later call returns the same one, until `recover`. `corrupt`: bytes
  ///                that are no record; any other: the source failed
  Result<std::optional<Record>> next();

  /// After `corrupt`: goes on at the next place that looks like a record, or at the end.
  /// REQUIRES: the last `next` returned `corrupt`
  Damage recover();

 private:
  Error fail(std::uint64_t begin, std::uint64_t end, std::string why);

  Window window_;
  std::uint64_t at_;
  std::optional<Error> failure_;
  Damage damage_;
};

}  // namespace headrace::tfrecord
