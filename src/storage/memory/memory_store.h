// SPDX-License-Identifier: Apache-2.0
/// \file Objects in memory: the twin of every store, and the example to copy.
///
/// Thread-safe. Reads complete on the caller's thread before `read` returns.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "headrace/base/mutex.h"
#include "headrace/storage/store.h"

namespace headrace {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::string name = "memory://") : name_(std::move(name)) {}

  std::string describe() const override { return name_; }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override;
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override;
  void read(ReadRequest request, ReadDone done) override;
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override;
  Result<void> remove(const std::string& key, const std::stop_token& stop) override;

 private:
  struct Object {
    Bytes bytes;
    Pin pin;
  };
  class Writer;

  Result<Object> find(const std::string& key) const;
  Pin replace(const std::string& key, Bytes bytes);

  const std::string name_;
  mutable Mutex mutex_;
  std::map<std::string, Object> objects_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t generation_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace
