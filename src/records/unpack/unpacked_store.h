// SPDX-License-Identifier: Apache-2.0
/// \file Objects that were compressed as a whole, unpacked into scratch and read from there; all
/// others pass through to the store below.
///
/// Thread-safe. For formats without random access inside a compressed file: what is unpacked is
/// read once from its beginning, and takes its full size on this machine's disk, until the process
/// ends. A `fresh` read finds out whether the scratch was damaged since: then the object is
/// unpacked anew. What is known from before (inside_index.h) is unpacked when it is first read.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/digest.h"
#include "headrace/records/scan_progress.h"
#include "headrace/records/unpack/codec.h"
#include "headrace/storage/store.h"

namespace headrace {

/// Objects that are unpacked at the same time: each is one stream, which is one thread's work.
inline constexpr unsigned kUnpackers = 8;

/// What a compressed object holds.
struct Inside {
  std::uint64_t size = 0;
  Hash128 hash;
  std::string failure;  ///< why not all of it is there; empty: it is whole

  bool operator==(const Inside&) const = default;
};

class UnpackedStore : public Store {
 public:
  /// Now. From then on, `object.key` reads as what is inside, with the same pin. A second call does
  /// nothing more.
  ///  * `exhausted`   it holds more than `most` bytes, or the disk is full
  virtual Result<Inside> unpack(const ObjectInfo& object, Codec codec, std::uint64_t most,
                                const std::stop_token& stop) = 0;
  /// The same when `object.key` is first read, and no read before it ends: `inside` is what
  /// `unpack` gave for this version. If it holds something else by then, reads are `corrupt`.
  virtual void unpack_later(const ObjectInfo& object, Codec codec, const Inside& inside) = 0;
  /// Bytes that were unpacked so far.
  virtual std::uint64_t unpacked_bytes() const = 0;
};

/// The object as it reads then.
inline ObjectInfo inside_of(ObjectInfo object, const Inside& inside) {
  object.size = inside.size;
  return object;
}

/// `below` must outlive it. `scanning`: counts compressed bytes that were read by `unpack`; may be
/// null.
Result<std::unique_ptr<UnpackedStore>> make_unpacked_store(Store& below,
                                                           ScanProgress* scanning = nullptr);

}  // namespace headrace
