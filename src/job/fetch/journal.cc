// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/fetch/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "headrace/storage/local/volume.h"

namespace headrace::fetching {
namespace {

constexpr mode_t kFileMode = 0644;
// A syncfs waits for all that the volume has to write, so small files share one; what is lost at a
// crash is a few seconds of work: this many files, or this many bytes.
constexpr std::size_t kSyncFiles = 4096;
constexpr std::uint64_t kSyncBytes = std::uint64_t{1} << 30U;

std::string own_folder(const std::string& folder) { return folder + "/.headrace"; }

Result<UniqueFd> open_file(const std::string& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, kFileMode));
  if (!fd.valid()) return errno_error(errno, "open").at(path);
  return fd;
}

void remove_parts(const std::string& folder) {
  std::error_code ignored;  // a part that stays costs space, nothing else
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("part-")) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

std::vector<Hash128> read_lines(const std::string& path) {
  std::vector<Hash128> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {  // a torn end is no line
    if (const auto hash = Hash128::from_hex(line)) known.push_back(*hash);
  }
  std::sort(known.begin(), known.end());
  return known;
}

/// Another one after each start of the machine; empty if the system has none.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

std::string left_path(const std::string& folder) { return own_folder(folder) + "/left"; }

/// What `leave` wrote since the machine started.
std::vector<Hash128> read_left(const std::string& folder) {
  std::vector<Hash128> left;
  std::ifstream file(left_path(folder));
  std::string line;
  if (!std::getline(file, line) || line.empty() || line != boot_id()) return left;
  while (std::getline(file, line) && !file.eof())
    if (const auto hash = Hash128::from_hex(line)) left.push_back(*hash);
  return left;
}

std::string lines_of(const std::vector<Hash128>& hashes) {
  std::string text;
  for (const Hash128& hash : hashes) text += hash.to_hex() + '\n';
  return text;
}

}  // namespace

Hash128 identity(std::string_view key, const Pin& pin) {
  std::string text(key);
  for (const std::string& part : {std::to_string(pin.size), pin.etag, pin.version,
                                  std::to_string(pin.modified_ns), std::string()}) {
    text += '\0';
    text += part;
  }
  return hash_bytes(as_byte_span(text));
}

bool Journal::is_in(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(own_folder(folder) + "/fetched", ignored);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder) {
  const std::string own = own_folder(folder);
  std::error_code error;
  std::filesystem::create_directories(own, error);
  if (error) return errno_error(error.value(), "make the folder").at(folder);
  HEADRACE_TRY(auto lock, open_file(own + "/lock", O_RDWR | O_CREAT));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return errno_error(errno, "lock the folder").at(folder);
    return Error(Code::invalid, "another fetch writes into this folder",
                 "wait for it, or take another folder")
        .at(folder);
  }
  remove_parts(own);
  const std::string path = own + "/fetched";
  auto known = read_lines(path);
  auto left = read_left(folder);
  known.insert(known.end(), left.begin(), left.end());
  std::sort(known.begin(), known.end());
  HEADRACE_TRY(auto lines, open_file(path, O_RDWR | O_APPEND | O_CREAT));
  // What a torn line left must not become the beginning of the next one.
  if (const off_t end = ::lseek(lines.get(), 0, SEEK_END); end % 33 != 0) {
    if (::ftruncate(lines.get(), end - end % 33) != 0) {
      return errno_error(errno, "repair the journal").at(path);
    }
  }
  std::unique_ptr<Journal> journal(
      new Journal(folder, std::move(lock), std::move(lines), std::move(known)));
  const MutexLock held(journal->mutex_);
  journal->waiting_ = std::move(left);  // they get their lines with the next ones
  return journal;
}

Journal::Journal(std::string folder, UniqueFd lock, UniqueFd lines, std::vector<Hash128> known)
    : folder_(std::move(folder)),
      lock_(std::move(lock)),
      lines_(std::move(lines)),
      known_(std::move(known)) {}

bool Journal::has(const Hash128& identity) const {
  return std::binary_search(known_.begin(), known_.end(), identity);
}

std::string Journal::part_path(std::uint64_t number) const {
  return fmt::format("{}/part-{}", own_folder(folder_), number);
}

Result<void> Journal::add(const Hash128& identity, std::uint64_t bytes,
                          const std::stop_token& stop) {
  std::vector<Hash128> fresh;
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(identity);
    waiting_bytes_ += bytes;
    if (waiting_.size() < kSyncFiles && waiting_bytes_ < kSyncBytes) return {};
    waiting_bytes_ = 0;
    fresh = std::exchange(waiting_, {});
  }
  return write_lines(std::move(fresh), stop);
}

Result<void> Journal::finish(const std::stop_token& stop) {
  if (stop.stop_requested()) return leave();
  std::vector<Hash128> fresh;
  {
    const MutexLock lock(mutex_);
    fresh = std::exchange(waiting_, {});
  }
  auto written = write_lines(std::move(fresh), stop);
  if (!written && stop.stop_requested()) HEADRACE_TRY(leave());
  return written;
}

Result<void> Journal::leave() {
  std::vector<Hash128> fresh;
  {
    const MutexLock lock(mutex_);
    fresh = std::exchange(waiting_, {});
  }
  const std::string boot = boot_id();
  if (fresh.empty() || boot.empty()) return {};
  const std::string path = left_path(folder_);
  {
    std::ofstream file(path + ".new", std::ios::trunc);
    file << boot << '\n' << lines_of(fresh);
    file.close();
    if (!file) return errno_error(errno, "write").at(path);
  }
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0)
    return errno_error(errno, "rename").at(path);
  return {};
}

Result<void> Journal::write_lines(std::vector<Hash128> fresh, const std::stop_token& stop) {
  if (fresh.empty()) return {};
  if (auto synced = local::sync_volume(lines_.get(), stop); !synced) {
    const MutexLock lock(mutex_);
    waiting_.insert(waiting_.end(), fresh.begin(), fresh.end());
    return std::move(synced).error().at(folder_);
  }
  const std::string text = lines_of(fresh);
  const ssize_t written = ::write(lines_.get(), text.data(), text.size());  // one, so in one piece
  if (written == static_cast<ssize_t>(text.size())) {
    ::unlink(left_path(folder_).c_str());  // all of it has lines now
    return {};
  }
  return errno_error(written < 0 ? errno : ENOSPC, "write the journal").at(folder_);
}

}  // namespace headrace::fetching
