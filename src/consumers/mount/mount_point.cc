// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/mount_point.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

#include "headrace/storage/local/standing.h"

namespace headrace::mount {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{2};  ///< a mount that answers does so within this

/// Absolute, without links; also where the last part does not answer any more.
std::string absolute(const std::string& folder) {
  std::error_code failed;
  const fs::path whole = fs::absolute(folder, failed).lexically_normal();
  const fs::path trimmed = whole.has_filename() ? whole : whole.parent_path();
  const fs::path parent = fs::canonical(trimmed.parent_path(), failed);
  if (failed) return trimmed.string();
  const fs::path direct = parent / trimmed.filename();
  const fs::path real = fs::canonical(direct, failed);  // the folder itself may be a link
  return (failed ? direct : real).string();
}

/// The type of what is mounted on top there; empty if nothing is.
std::string type_at(const std::string& folder) {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string type;
  for (std::string line; std::getline(mounts, line);) {
    local::MountLine mount;
    if (local::parse_mount_line(line, mount) && mount.mount_point == folder) type = mount.type;
  }
  return type;
}

/// What the file system itself answers now: 0 or an errno. `stat` is not enough: the kernel goes on
/// answering it from what a killed mount told it before. On a thread of its own, since a mount that
/// stands still (SIGSTOP, a store that does not answer) never does.
int probe(const std::string& place) {
  auto asked = std::make_shared<std::promise<int>>();
  auto answer = asked->get_future();
  std::thread([asked, place] {
    struct statfs about {};
    asked->set_value(::statfs(place.c_str(), &about) == 0 ? 0 : errno);
  }).detach();
  return answer.wait_for(kPatience) == std::future_status::ready ? answer.get() : 0;
}

/// Runs fusermount3, which may do what only root can.
int run_helper(const std::string& folder) {
  std::array<std::string, 5> words{"fusermount3", "-u", "-q", "-z", folder};
  std::array<char*, 6> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  pid_t child = 0;
  if (const int error =
          ::posix_spawnp(&child, "fusermount3", nullptr, nullptr, argv.data(), environ);
      error != 0) {
    return error;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EPERM;
}

Result<void> detach(const std::string& folder) {
  if (::umount2(folder.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return {};
  int error = errno;
  if (error == EPERM) error = run_helper(folder);
  if (error == 0) return {};
  return errno_error(error, "unmount").at(folder);
}

/// The killed process's fusermount3 may be about to free the folder: it goes first, so that it
/// does not free the folder from the next mount.
Result<void> free_from_stale(const std::string& folder) {
  for (int i = 0; i < 100; ++i) {
    const auto now = look(folder);
    if (now && *now != Covered::stale) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return detach(absolute(folder));
}

}  // namespace

std::string obstacle() {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    return errno == ENOENT ? "this machine has no /dev/fuse (load the fuse module; in a container: "
                             "--device /dev/fuse --cap-add SYS_ADMIN)"
                           : "this user may not open /dev/fuse (chmod 666 /dev/fuse, as root)";
  }
  if (::geteuid() != 0 && ::access("/usr/bin/fusermount3", X_OK) != 0 &&
      ::access("/bin/fusermount3", X_OK) != 0) {
    return "only root can mount without fusermount3 (apt install fuse3)";
  }
  return {};
}

Result<Covered> look(const std::string& folder) {
  const std::string place = absolute(folder);
  const bool ours = type_at(place) == kType;
  struct stat status {};
  if (::stat(place.c_str(), &status) != 0) {
    if (errno == ENOTCONN && ours) return Covered::stale;
    return errno_error(errno, "open the mount point")
        .at(folder)
        .advise("make the folder: mkdir -p");
  }
  if (!S_ISDIR(status.st_mode)) {
    return Error(Code::invalid, "the mount point is not a folder").at(folder);
  }
  if (ours) {
    // A request that was under way when the mount died is given up with ECONNABORTED.
    const int error = probe(place);
    return error == ENOTCONN || error == ECONNABORTED ? Covered::stale : Covered::live;
  }
  return type_at(place).empty() ? Covered::no : Covered::other;
}

Result<bool> prepare(const std::string& folder, const Uri& source) {
  HEADRACE_TRY(const Covered before, look(folder));
  if (before == Covered::live) {
    return Error(Code::invalid, "a store is mounted here already",
                 "headrace mount --unmount frees the folder")
        .at(folder);
  }
  if (before == Covered::stale) HEADRACE_TRY(free_from_stale(folder));
  std::error_code failed;
  const std::string place = absolute(folder);
  if (source.scheme == Scheme::local) {
    const std::string from = absolute(source.path.empty() ? "." : source.path);
    if (place == from || place.starts_with(from == "/" ? from : from + '/')) {
      return Error(Code::invalid,
                   "the mount point lies in the source, so the mount would hold itself",
                   "take a folder outside it")
          .at(folder);
    }
  }
  const bool empty = fs::is_empty(place, failed);
  if (failed) return errno_error(failed.value(), "look into the mount point").at(folder);
  if (!empty) {
    return Error(Code::invalid, "the mount point is not empty, and a mount would hide its files",
                 "take an empty folder")
        .at(folder);
  }
  return before == Covered::stale;
}

Result<void> unmount(const std::string& folder) {
  HEADRACE_TRY(const Covered now, look(folder));
  if (now == Covered::live || now == Covered::stale) return detach(absolute(folder));
  return Error(Code::invalid, "no store of headrace is mounted here").at(folder);
}

}  // namespace headrace::mount
