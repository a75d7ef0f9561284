// SPDX-License-Identifier: Apache-2.0
/// \file Bytes in, records out, one at a time: for files, objects and FIFOs alike.
///
/// Not thread-safe: one reader, one thread. Example:
///
///     RecordReader reader(source);
///     while (true) {
///       auto record = reader.next();
///       if (!record && record.error().code() == Code::corrupt) {
///         skipped.push_back(reader.recover());   // the policy of whoever reads
///         continue;
///       }
///       HEADRACE_TRY(auto found, std::move(record));
///       if (!found) break;                               // the clean end
///       use(found->payload);
///     }
#pragma once

#include <cstdint>
#include <optional>

#include "headrace/records/byte_source.h"
#include "headrace/records/damage.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/walk.h"

namespace headrace::recordio {

struct Record {
  std::uint64_t offset = 0;  ///< of the frame
  std::uint64_t frame_bytes = 0;
  Bytes payload;          ///< parts joined; shares the source's piece where it can
  bool unpadded = false;  ///< the last record of a file without its padding: worth a notice
};

class RecordReader {
 public:
  /// The source must outlive the reader; its first byte stands at `begin`, a multiple of 4.
  explicit RecordReader(ByteSource& source, Parts parts = Parts::automatic, std::uint64_t begin = 0)
      : window_(source, begin), parts_(parts), at_(begin) {}

  ///  * a record
  ///  * nothing     the source ended cleanly
  ///  * an error    and every later call returns the same one, until `recover`. `corrupt`: bytes
  ///                that are no record; any other: the source failed
  Result<std::optional<Record>> next();

  /// After `corrupt`: goes on at the next place that looks like a record, or at the end.
  /// REQUIRES: the last `next` returned `corrupt`
  Damage recover();

 private:
  Window window_;
  const Parts parts_;
  std::uint64_t at_;
  std::optional<Error> failure_;
  Damage damage_;
};

}  // namespace headrace::recordio
