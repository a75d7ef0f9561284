// SPDX-License-Identifier: Apache-2.0
/// \file What one epoch's stream holds, piece by piece; pure but for `next`, which is a cursor.
///
/// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headrace/consumers/pipe/ordered_reads.h"
#include "headrace/consumers/pipe/pipe_writer.h"

namespace headrace::pipe {

/// An epoch's pieces in stream order, and what of a piece's bytes is written.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  virtual std::optional<Piece> next() = 0;
  /// `out` is cleared first. An error is one of the stream, not of a sample.
  virtual Result<void> encode(const Piece& piece, const Bytes& bytes,
                              std::vector<std::byte>& out) const = 0;
  /// True if a reader that expects RecordIO could take the end of `written` pieces' bytes for a
  /// clean end: then a failure must leave a broken tail.
  virtual bool looks_whole_after(const Piece& last) const = 0;
  /// True if pieces are counted as objects, since several may be of one.
  virtual bool begins_object(const Piece& piece) const = 0;
};

/// `invalid` if the data set has no records for `global`.
Result<std::unique_ptr<Stream>> make_stream(const Dataset& dataset, const WriterOptions& options,
                                            std::uint64_t epoch);

/// Six bytes that begin as a record and end inside its header.
ByteSpan broken_tail();

/// A record without content: takes the place of one that is damaged where it is kept.
ByteSpan empty_record();

}  // namespace headrace::pipe
