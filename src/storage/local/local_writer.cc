// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/local_path.h"

namespace headrace::local {
namespace {

constexpr mode_t kFolderMode = 0777;  // less the umask, as any program
constexpr mode_t kFileMode = 0666;

Result<void> sync_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return errno_error(errno, "open folder").at(path);
  // Some network file systems know no fsync of folders; their rename is as durable as it gets.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return errno_error(errno, "fsync").at(path);
  return {};
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> make_folders(const std::string& path, Durable durable) {
  const auto made = [&] {
    return durable == Durable::yes ? sync_folder(parent_of(path)) : Result<void>();
  };
  if (::mkdir(path.c_str(), kFolderMode) == 0) return made();
  struct stat status {};
  if (errno == EEXIST) {
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
    return Error(Code::invalid, "is a file, where a folder is needed").at(path);
  }
  const std::string parent = parent_of(path);
  if (errno != ENOENT || parent == path) return errno_error(errno, "make folder").at(path);
  HEADRACE_TRY(make_folders(parent, durable));
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST)
    return errno_error(errno, "make folder").at(path);
  return made();
}

/// A file without a name, which goes with its last descriptor: a killed process leaves nothing.
/// Invalid where the file system has none (NFS).
UniqueFd open_nameless(const std::string& folder) {
  static const bool can_be_named = ::access("/proc/self/fd", X_OK) == 0;
  if (!can_be_named) return {};
  return UniqueFd(::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kFileMode));
}

std::string temporary_name(const std::string& folder) {
  static std::atomic<std::uint64_t> count{0};
  return fmt::format("{}/{}{}-{}", folder, kTemporary, ::getpid(), ++count);
}

class LocalWriter final : public ObjectWriter {
 public:
  /// `temporary` is empty if the file has no name yet.
  LocalWriter(std::string path, std::string temporary, UniqueFd fd, Durable durable,
              std::uint64_t direct_after)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)),
        output_(fd_.get(), direct_after),
        durable_(durable) {}
  LocalWriter(const LocalWriter&) = delete;
  LocalWriter& operator=(const LocalWriter&) = delete;
  ~LocalWriter() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Result<void> append(ByteSpan bytes) override {
    if (!fd_.valid()) return Error(Code::invalid, "append after finish").at(path_);
    return output_.append(bytes).at(path_);
  }

  Result<Pin> finish() override {
    if (!fd_.valid()) return Error(Code::invalid, "finish twice").at(path_);
    HEADRACE_TRY(output_.flush().at(path_));
    if (durable_ == Durable::yes && ::fsync(fd_.get()) != 0)
      return errno_error(errno, "fsync").at(path_);
    if (temporary_.empty()) HEADRACE_TRY(give_name());
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return errno_error(errno, "stat").at(path_);
    HEADRACE_TRY(std::move(fd_).close().at(path_));
    if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)
      return errno_error(errno, "rename").at(path_);
    temporary_.clear();
    if (durable_ == Durable::yes) HEADRACE_TRY(sync_folder(parent_of(path_)));
    return pin_of(status);
  }

 private:
  /// Its own, or a temporary one if that is taken: only a rename replaces what is there.
  Result<void> give_name() {
    const std::string self = fmt::format("/proc/self/fd/{}", fd_.get());
    for (std::string name = path_;; name = temporary_name(parent_of(path_))) {
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        if (name != path_) temporary_ = name;
        return {};
      }
      // A temporary name left by a dead process with our id is not ours: take the next.
      if (errno != EEXIST) return errno_error(errno, "name").at(path_);
    }
  }

  const std::string path_;
  std::string temporary_;  // empty once it is renamed, or before it has a name
  UniqueFd fd_;
  FileOutput output_;
  const Durable durable_;
};

}  // namespace

Result<std::unique_ptr<ObjectWriter>> create_file(const std::string& root, const std::string& key,
                                                  Durable durable, std::uint64_t direct_after) {
  std::string path = path_of(root, key);
  const std::string folder = parent_of(path);
  constexpr int kAttempts = 8;  // whoever removes a folder's last file removes the folder
  for (int attempt = 1;; ++attempt) {
    HEADRACE_TRY(make_folders(folder, durable));
    std::string temporary;
    UniqueFd fd = open_nameless(folder);
    if (!fd.valid()) {
      temporary = temporary_name(folder);
      fd = UniqueFd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
    }
    if (fd.valid()) {
      return std::unique_ptr<ObjectWriter>(std::make_unique<LocalWriter>(
          std::move(path), std::move(temporary), std::move(fd), durable, direct_after));
    }
    const bool again = errno == EEXIST || errno == EINTR || errno == ENOENT;
    if (!again || attempt == kAttempts) return errno_error(errno, "create").at(path);
  }
}

}  // namespace headrace::local
