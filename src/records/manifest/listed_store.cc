// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/listed_store.h"

#include <utility>

#include "headrace/records/list_index.h"
#include "headrace/storage/ranges.h"

namespace headrace::manifest {
namespace {

class ListedStore final : public Store {
 public:
  ListedStore(Store& below, std::string folder, ObjectIndex objects)
      : below_(below), folder_(std::move(folder)), objects_(std::move(objects)) {}

  std::string describe() const override {
    if (folder_.empty()) return below_.describe();
    return object_place(below_.describe(), folder_.substr(0, folder_.size() - 1));
  }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    HEADRACE_TRY(auto info, below_.head(folder_ + key, stop));
    info.key = key;
    return info;
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return list_index(objects_, request, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    request.key = folder_ + request.key;
    below_.read(std::move(request), std::move(done));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& /*key*/,
                                               const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what a manifest names is read only");
  }
  Result<void> remove(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what a manifest names is read only");
  }

 private:
  Store& below_;
  const std::string folder_;
  const ObjectIndex objects_;
};

}  // namespace

std::unique_ptr<Store> make_listed_store(Store& below, std::string folder, ObjectIndex objects) {
  return std::make_unique<ListedStore>(below, std::move(folder), std::move(objects));
}

}  // namespace headrace::manifest
