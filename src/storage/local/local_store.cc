// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/direct.h"
#include "headrace/storage/local/local_file.h"
#include "headrace/storage/local/local_list.h"
#include "headrace/storage/local/local_path.h"
#include "headrace/storage/local/local_writer.h"
#include "headrace/storage/local/standing.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/read_pool.h"

namespace headrace {
namespace {

/// Of a disk of this machine; what a network's file systems make of O_DIRECT was not measured.
bool is_own_disk(const std::string& root) {
  const auto standing = local::standing_of(root);
  return standing && standing->medium == local::Medium::local;
}

std::uint64_t direct_after(const std::string& root) {
  return is_own_disk(root) ? local::Reads::memory_of_machine()
                           : std::numeric_limits<std::uint64_t>::max();
}

Error stopped() { return {Code::cancelled, "stopped"}; }

class LocalStore final : public Store {
 public:
  LocalStore(std::string root, Context context, const LocalStoreOptions& options)
      : root_(root.empty() ? "." : std::move(root)),
        context_(std::move(context)),
        durable_(options.durable ? local::Durable::yes : local::Durable::no),
        direct_writes_after_(options.direct_writes_after),
        reads_(options.direct_after ? *options.direct_after : direct_after(root_)),
        pool_(root_, options.threads,
              [this](const ReadRequest& request, const std::stop_token& ending) {
                return read_file(request, ending);
              }) {}

  std::string describe() const override { return root_; }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped().at(place(key));
    return look(key).at(place(key));
  }

  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return local::list_tree(root_, request, *context_.notices, stop, sink);
  }

  void read(ReadRequest request, ReadDone done) override {
    pool_.push(std::move(request), std::move(done));
  }

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped().at(place(key));
    HEADRACE_TRY(local::check_key(key).at(place(key)));
    return local::create_file(root_, key, durable_, direct_writes_after());
  }

  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped().at(place(key));
    HEADRACE_TRY(local::check_key(key).at(place(key)));
    if (::unlink(local::path_of(root_, key).c_str()) != 0)
      return errno_error(errno, "remove").at(place(key));
    remove_empty_folders(key);
    return {};
  }

 private:
  /// What is not durable is meant to be read soon: a fetched copy.
  std::uint64_t direct_writes_after() const {
    constexpr std::uint64_t kDirectFrom = std::uint64_t{32} << 20U;
    if (durable_ == local::Durable::no) return local::FileOutput::kNever;
    if (direct_writes_after_) return *direct_writes_after_;
    return is_own_disk(root_) ? kDirectFrom : local::FileOutput::kNever;
  }

  std::string place(const std::string& key) const { return object_place(root_, key); }

  /// A folder goes with the last object in it, as where there are only keys. Never the root.
  void remove_empty_folders(std::string key) const {
    for (auto slash = key.rfind('/'); slash != std::string::npos; slash = key.rfind('/')) {
      key.resize(slash);
      if (::rmdir(local::path_of(root_, key).c_str()) != 0) return;
    }
  }

  Result<ObjectInfo> look(const std::string& key) const {
    HEADRACE_TRY(local::check_key(key));
    struct stat status {};
    if (::stat(local::path_of(root_, key).c_str(), &status) != 0) return errno_error(errno, "stat");
    if (S_ISDIR(status.st_mode)) return Error(Code::not_found, "is a folder, not an object");
    if (!S_ISREG(status.st_mode)) return Error(Code::invalid, "is not a regular file");
    const Pin pin = local::pin_of(status);
    return ObjectInfo{.key = key, .size = pin.size, .pin = pin};
  }

  Result<ReadResult> read_file(const ReadRequest& request, const std::stop_token& ending) {
    if (request.stop.stop_requested() || ending.stop_requested()) return stopped();
    HEADRACE_TRY(local::check_key(request.key));
    struct stat status {};
    HEADRACE_TRY(const UniqueFd fd, local::open_file(local::path_of(root_, request.key), status));
    const Pin pin = local::pin_of(status);
    if (request.pin && !same_version(*request.pin, pin)) return changed_error(*request.pin, pin);
    HEADRACE_TRY(const ByteRange range, resolve(request.range, pin.size));
    context_.metrics->add(Metric::requests, 1);
    HEADRACE_TRY(auto bytes, reads_.read(fd.get(), range, request.fresh, request.stop));
    if (bytes.size() != range.length)
      return Error(Code::changed, "the file became shorter while it was read");
    if (::fstat(fd.get(), &status) != 0) return errno_error(errno, "stat");
    if (!same_version(pin, local::pin_of(status))) return changed_error(pin, local::pin_of(status));
    context_.metrics->add(Metric::bytes_origin, range.length);
    return ReadResult{std::move(bytes), pin};
  }

  const std::string root_;
  const Context context_;
  const local::Durable durable_;
  const std::optional<std::uint64_t> direct_writes_after_;
  local::Reads reads_;
  ReadPool pool_;  // last: its threads use the rest
};

}  // namespace

std::unique_ptr<Store> make_local_store(std::string root, const Context& context,
                                        const LocalStoreOptions& options) {
  return std::make_unique<LocalStore>(std::move(root), context, options);
}

}  // namespace headrace
