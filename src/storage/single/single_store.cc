// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/single/single_store.h"

namespace headrace {
namespace {

class SingleStore final : public Store {
 public:
  SingleStore(std::unique_ptr<Store> folder, std::string key)
      : folder_(std::move(folder)), key_(std::move(key)) {}

  std::string describe() const override { return folder_->describe(); }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    return folder_->head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    ListPage page;
    if (key_.starts_with(request.prefix) && key_ > request.start_after) {
      HEADRACE_TRY(auto info, folder_->head(key_, stop));
      page.objects.push_back(std::move(info));
    }
    HEADRACE_TRY(sink(std::move(page)));
    return {};
  }
  void read(ReadRequest request, ReadDone done) override {
    folder_->read(std::move(request), std::move(done));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    return folder_->create(key, stop);
  }
  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    return folder_->remove(key, stop);
  }
  void hint(std::span<const Wanted> wanted) override { folder_->hint(wanted); }

 private:
  const std::unique_ptr<Store> folder_;
  const std::string key_;  // without a '/': its folder is the root
};

}  // namespace

std::unique_ptr<Store> make_single_store(std::unique_ptr<Store> folder, std::string key) {
  return std::make_unique<SingleStore>(std::move(folder), std::move(key));
}

}  // namespace headrace
