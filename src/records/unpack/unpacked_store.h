// SPDX-License-Identifier: Apache-2.0
/// \file Objects that were compressed as a whole, unpacked into scratch and read from there; all
/// others pass through to the store below.
///
/// Thread-safe. For formats without random access inside a compressed file: what is unpacked is
/// read once from its beginning, and takes its full size on this machine's disk.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "headrace/records/scan_progress.h"
#include "headrace/records/unpack/codec.h"
#include "headrace/storage/store.h"

namespace headrace {

class UnpackedStore : public Store {
 public:
  struct Unpacked {
    ObjectInfo object;    ///< the same key and pin, the size of what is inside
    std::string failure;  ///< why not all of it is there; empty: it is whole
  };
  /// From then on, `object.key` reads as what is inside. A second call does nothing more.
  ///  * `exhausted`   it holds more than `most` bytes, or the disk is full
  virtual Result<Unpacked> unpack(const ObjectInfo& object, Codec codec, std::uint64_t most,
                                  const std::stop_token& stop) = 0;
};

/// `below` must outlive it. `scanning`: counts compressed bytes that were read; may be null.
Result<std::unique_ptr<UnpackedStore>> make_unpacked_store(Store& below,
                                                           ScanProgress* scanning = nullptr);

}  // namespace headrace
