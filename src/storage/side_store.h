// SPDX-License-Identifier: Apache-2.0
/// \file What was derived from an object and is worth keeping beside it: indexes, snapshots,
/// seek tables. Opaque bytes, checksummed; losing one costs time, never data.
///
/// Thread-safe. Implemented in memory, in a directory, and by keep. Nothing is ever written
/// where the user's data is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace {

struct SideKey {
  std::string store;          ///< Store::describe()
  std::string object;         ///< key
  Pin pin;                    ///< of the object it was derived from
  std::string kind;           ///< "rec-index", "snapshot", "jpeg-seek"
  std::uint32_t version = 0;  ///< of the kind's format
  std::uint64_t offset = 0;   ///< within the object, if many are kept for one
};

class SideStore {
 public:
  SideStore() = default;
  SideStore(const SideStore&) = delete;
  SideStore& operator=(const SideStore&) = delete;
  virtual ~SideStore() = default;

  ///  * the bytes that were put, verified
  ///  * nothing: never put, dropped since, or damaged
  ///  * an error: the place itself is out of reach
  virtual Result<std::optional<Bytes>> get(const SideKey& key) = 0;
  virtual Result<void> put(const SideKey& key, ByteSpan bytes) = 0;
};

}  // namespace headrace
