// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/local_path.h"

namespace headrace::local {
namespace {

constexpr std::size_t kPage = 1000;

/// A folder on the way down: a link back to one of them would never end.
struct Ancestor {
  dev_t device;
  ino_t inode;
  std::shared_ptr<const Ancestor> parent;
};

struct Pending {
  std::string key;  // with its '/'; "" = the root
  std::shared_ptr<const Ancestor> parent;
};

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

bool vanished(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

class Walk {
 public:
  Walk(const std::string& root, const ListRequest& request, Notices& notices,
       const std::stop_token& stop, const std::function<Result<bool>(ListPage&&)>& sink)
      : root_(root), request_(request), notices_(notices), stop_(stop), sink_(sink) {}

  Result<void> run() {
    const auto slash = request_.prefix.rfind('/');
    std::string start =
        slash == std::string::npos ? std::string() : request_.prefix.substr(0, slash + 1);
    if (!start.empty()) {
      // What no file can be named begins no file's name.
      if (!check_key(std::string_view(start).substr(0, slash))) return flush();
    }
    pending_.push_back({std::move(start), nullptr});
    while (!pending_.empty() && wanted_) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      HEADRACE_TRY(walk(next).at(path_of(root_, next.key)));
    }
    return wanted_ ? flush() : Result<void>();
  }

 private:
  Result<void> walk(const Pending& folder) {
    UniqueFd fd(::open(path_of(root_, folder.key).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) {
      if (vanished(errno) && !folder.key.empty()) return {};
      return errno_error(errno, "open folder");
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return errno_error(errno, "stat");
    for (auto at = folder.parent; at != nullptr; at = at->parent) {
      if (at->device == status.st_dev && at->inode == status.st_ino) {
        notices_.add("link-loop", path_of(root_, folder.key) + " leads back to itself: left out");
        return {};
      }
    }
    const auto self =
        std::make_shared<const Ancestor>(Ancestor{status.st_dev, status.st_ino, folder.parent});
    const Dir dir(::fdopendir(fd.get()));
    if (dir == nullptr) return errno_error(errno, "open folder");
    const int handle = fd.release();  // closedir closes it
    while (wanted_) {
      if (stop_.stop_requested()) return Error(Code::cancelled, "stopped");
      errno = 0;
      const dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) {
        if (errno != 0 && !vanished(errno)) return errno_error(errno, "read folder");
        return {};
      }
      HEADRACE_TRY(take(folder.key, self, handle, *entry));
    }
    return {};
  }

  Result<void> take(const std::string& folder, const std::shared_ptr<const Ancestor>& self,
                    int handle, const dirent& entry) {
    const std::string_view name = &entry.d_name[0];
    if (name == "." || name == ".." || name.starts_with(kTemporary)) return {};
    std::string key = folder + std::string(name);
    if (!key.starts_with(request_.prefix)) return {};
    if (entry.d_type == DT_DIR) return take_folder(std::move(key), self);
    struct stat status {};
    if (::fstatat(handle, &entry.d_name[0], &status, 0) != 0) {
      if (errno == ELOOP || (vanished(errno) && entry.d_type == DT_LNK)) {
        notices_.add("dangling-link", path_of(root_, key) + " points to nothing: left out");
        return {};
      }
      if (vanished(errno)) return {};
      return errno_error(errno, "stat").at(path_of(root_, key));
    }
    if (S_ISDIR(status.st_mode)) return take_folder(std::move(key), self);
    if (!S_ISREG(status.st_mode) || key <= request_.start_after) return {};
    const Pin pin = pin_of(status);
    page_.objects.push_back({.key = std::move(key), .size = pin.size, .pin = pin});
    return flush_if_full();
  }

  Result<void> take_folder(std::string key, const std::shared_ptr<const Ancestor>& self) {
    key += '/';
    if (request_.by_folder) {
      page_.folders.push_back(std::move(key));
      return flush_if_full();
    }
    const bool all_before = key < request_.start_after && !request_.start_after.starts_with(key);
    if (!all_before) pending_.push_back({std::move(key), self});
    return {};
  }

  Result<void> flush_if_full() {
    return page_.objects.size() + page_.folders.size() >= kPage ? flush() : Result<void>();
  }

  Result<void> flush() {
    HEADRACE_TRY(wanted_, sink_(std::move(page_)));
    page_ = {};
    return {};
  }

  const std::string& root_;
  const ListRequest& request_;
  Notices& notices_;
  const std::stop_token& stop_;
  const std::function<Result<bool>(ListPage&&)>& sink_;
  std::vector<Pending> pending_;
  ListPage page_;
  bool wanted_ = true;
};

}  // namespace

Result<void> list_tree(const std::string& root, const ListRequest& request, Notices& notices,
                       const std::stop_token& stop,
                       const std::function<Result<bool>(ListPage&&)>& sink) {
  if (stop.stop_requested()) return Error(Code::cancelled, "stopped").at(root);
  return Walk(root, request, notices, stop, sink).run();
}

}  // namespace headrace::local
