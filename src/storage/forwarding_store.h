// SPDX-License-Identifier: Apache-2.0
/// \file A store over a store that passes everything on: what stands between two stores derives
/// from it and says only what it does otherwise.
///
/// As thread-safe as what is beneath, which must outlive it. `Interface`: Store, or a kind of
/// Store. Examples: shaped/, records/snapshot/keeping.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include "headrace/storage/store.h"

namespace headrace {

template <class Interface = Store>
class ForwardingStore : public Interface {
 public:
  explicit ForwardingStore(Store& below) : below_(below) {}

  std::string describe() const override { return below_.describe(); }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    return below_.head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return below_.list(request, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    below_.read(std::move(request), std::move(done));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    return below_.create(key, stop);
  }
  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    return below_.remove(key, stop);
  }
  void hint(std::span<const Wanted> wanted) override { below_.hint(wanted); }

 protected:
  Store& below() const { return below_; }

 private:
  Store& below_;
};

}  // namespace headrace
