// SPDX-License-Identifier: Apache-2.0
/// \file Bytes in order, in pieces: of an object, of a FIFO, of memory; and a window on them.
///
/// Not thread-safe: one source, one thread. A piece shares its block with whoever keeps it, so
/// that a record that lies in one piece is never copied.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"
#include "headrace/storage/store.h"

namespace headrace {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  ///  * bytes           the next piece, of any size
  ///  * empty bytes     the clean end, and so for ever
  ///  * an error        the source failed
  virtual Result<Bytes> next() = 0;
  /// Offset of the end, if it is known beforehand.
  virtual std::optional<std::uint64_t> end() const { return std::nullopt; }
};

/// One piece.
std::unique_ptr<ByteSource> make_memory_source(Bytes bytes);

struct StoreSourceOptions {
  std::uint64_t begin = 0;
  /// Nothing is read ahead beyond it; what is asked for is still delivered, to the object's end.
  std::uint64_t ahead_end = ByteRange::kToEnd;
  std::uint64_t piece_bytes = 1U << 20U;
  unsigned ahead = 3;                           ///< pieces asked for before they are needed
  std::atomic<std::uint64_t>* count = nullptr;  ///< of what was read; may be null
  bool fresh = false;                           ///< past every cache
};

/// Reads an object by ranges, several at a time. The store must outlive the source.
std::unique_ptr<ByteSource> make_store_source(Store& store, const ObjectInfo& object,
                                              const StoreSourceOptions& options,
                                              const std::stop_token& stop);

/// A file, pipe or FIFO that is open for reading, from where it stands. Waits at most 100 ms for
/// a stop to be seen.
std::unique_ptr<ByteSource> make_fd_source(UniqueFd fd, std::string name,
                                           const std::stop_token& stop,
                                           std::size_t piece_bytes = 1U << 20U);

/// The bytes of a source by offset, as far as they were pulled and not yet dropped.
class Window {
 public:
  /// The source's first byte stands at offset `begin`.
  explicit Window(ByteSource& source, std::uint64_t begin = 0)
      : source_(source), begin_(begin), end_(begin) {}

  /// Pulls until bytes before `end` are there.
  ///  * true    they are
  ///  * false   the source ends before
  Result<bool> cover(std::uint64_t end);
  std::uint64_t begin() const { return begin_; }
  /// Of what was pulled; of the source, once `cover` said false.
  std::uint64_t end() const { return end_; }
  /// Offset of the source's end, if it is known by now.
  std::optional<std::uint64_t> source_end() const;

  /// Little-endian. REQUIRES: begin() <= offset, offset + 4 <= end()
  std::uint32_t word(std::uint64_t offset) const;
  /// Shares the piece if the range lies in one, else is a copy. REQUIRES: within the window
  Bytes slice(std::uint64_t offset, std::uint64_t length) const;
  /// `offset` may lie beyond end(): what comes before it is dropped when it is pulled.
  void drop_before(std::uint64_t offset);

 private:
  void copy(std::uint64_t offset, std::span<std::byte> into) const;
  void trim();

  ByteSource& source_;
  std::deque<Bytes> pieces_;
  std::uint64_t first_ = 0;  ///< bytes before begin_ in pieces_, or still to come
  std::uint64_t begin_;
  std::uint64_t end_;
  bool ended_ = false;
};

}  // namespace headrace
