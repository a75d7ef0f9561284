// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/listed_store.h"

#include <utility>

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
    constexpr std::size_t kPage = 1000;
    ListPage page;
    const std::string& prefix = request.prefix;
    std::string last_folder;
    for (std::uint64_t i = objects_.lower_bound(prefix); i < objects_.size(); ++i) {
      const std::string_view key = objects_.key(i);
      if (!key.starts_with(prefix)) break;
      if (key <= request.start_after) continue;
      const auto slash = request.by_folder ? key.find('/', prefix.size()) : std::string_view::npos;
      if (slash == std::string_view::npos) {
        page.objects.push_back({.key = std::string(key),
                                .size = objects_.bytes(i),
                                .pin = objects_.pin(i),
                                .archived = false});
      } else if (key.substr(0, slash + 1) != last_folder) {
        last_folder = key.substr(0, slash + 1);
        page.folders.push_back(last_folder);
      }
      if (page.objects.size() + page.folders.size() < kPage) continue;
      if (stop.stop_requested()) return Error(Code::cancelled, "stopped while listing");
      HEADRACE_TRY(const bool more, sink(std::exchange(page, {})));
      if (!more) return {};
    }
    HEADRACE_TRY(sink(std::move(page)));
    return {};
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
