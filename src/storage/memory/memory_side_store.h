// SPDX-License-Identifier: Apache-2.0
/// \file Side entries in memory: the twin of every SideStore. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "headrace/base/mutex.h"
#include "headrace/storage/side_key.h"
#include "headrace/storage/side_store.h"

namespace headrace {

class MemorySideStore final : public SideStore {
 public:
  Result<std::optional<Bytes>> get(const SideKey& key) override {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(side_key_bytes(key));
    if (found == entries_.end()) return std::optional<Bytes>();
    return std::optional<Bytes>(found->second);
  }
  Result<void> put(const SideKey& key, ByteSpan bytes) override {
    Bytes copy = Bytes::copy_of(bytes);
    const MutexLock lock(mutex_);
    entries_[side_key_bytes(key)] = std::move(copy);
    return {};
  }

 private:
  Mutex mutex_;
  std::map<std::string, Bytes> entries_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
