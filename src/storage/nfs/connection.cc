// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/nfs/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "headrace/storage/object_time.h"

namespace headrace::nfs {
namespace {

constexpr std::string_view kStale = "the server does not know this file any more";
constexpr mode_t kFolderMode = 0777;
constexpr mode_t kFileMode = 0666;

// <nfsc/libnfs-raw-nfs.h>, which defines a name for each word of the protocol.
constexpr std::uint32_t kRegular = 1;
constexpr std::uint32_t kDirectory = 2;
constexpr std::uint32_t kLink = 5;

Status status_of(const nfs_stat_64& found) {
  Status status;
  const auto type = static_cast<mode_t>(found.nfs_mode) & S_IFMT;
  if (type == S_IFREG) status.kind = Status::Kind::file;
  if (type == S_IFDIR) status.kind = Status::Kind::folder;
  status.pin = {.modified_ns = object_time(static_cast<std::int64_t>(found.nfs_mtime),
                                           static_cast<std::int64_t>(found.nfs_mtime_nsec)),
                .size = found.nfs_size};
  return status;
}

/// A server tells NFSv4 clients apart by it: two with one name take each other's files away.
std::string client_name() {
  static std::atomic<std::uint64_t> count{0};
  char host[256] = {};
  ::gethostname(&host[0], sizeof host - 1);
  static const auto ours = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("headrace-{}-{}-{:x}-{}", &host[0], ::getpid(), ours, ++count);
}

}  // namespace

/// What one request brings; lives on the caller's stack until it is answered.
struct Connection::Call {
  bool done = false;
  int result = 0;             ///< what was answered, or -errno
  void* data = nullptr;       ///< a handle
  std::span<std::byte> into;  ///< read
  nfs_stat_64 found{};

  static void answered(int result, nfs_context* /*context*/, void* data, void* self) {
    auto& call = *static_cast<Call*>(self);
    call.done = true;
    call.result = result;
    call.data = data;
  }
  static void answered_status(int result, nfs_context* /*context*/, void* data, void* self) {
    auto& call = *static_cast<Call*>(self);
    call.done = true;
    call.result = result;
    if (result >= 0 && data != nullptr) std::memcpy(&call.found, data, sizeof call.found);
  }
  static void answered_bytes(int result, nfs_context* /*context*/, void* data, void* self) {
    auto& call = *static_cast<Call*>(self);
    call.done = true;
    call.result = result;
    if (result <= 0) return;
    const auto size = std::min(static_cast<std::size_t>(result), call.into.size());
    std::memcpy(call.into.data(), data, size);
    call.result = static_cast<int>(size);
  }
};

Error Connection::failed(std::string_view doing, int error_number) {
  if (error_number == ESTALE) return {Code::unavailable, std::string(kStale)};
  const bool about_the_file = error_number == ENOENT || error_number == ENOTDIR ||
                              error_number == EACCES || error_number == EPERM ||
                              error_number == EISDIR || error_number == EEXIST ||
                              error_number == ENOTEMPTY || error_number == EROFS ||
                              error_number == ENAMETOOLONG || error_number == ENOSPC;
  if (about_the_file) return errno_error(error_number, doing);
  // Lost, timed out, an expired lease, a server that begins anew: one cannot be told from another
  // by libnfs's number, and all are mended by a new connection.
  broken_ = true;
  const char* why = context_ == nullptr ? nullptr : nfs_get_error(context_);
  return {Code::unavailable,
          fmt::format("{}: {}", doing,
                      why != nullptr && *why != '\0' ? why : std::strerror(error_number))};
}

Result<void> Connection::run(std::string_view doing, Call& call, const std::stop_token& stop,
                             const std::function<int(nfs_context*, Call&)>& start) {
  constexpr int kLook = 100;  // ms: how late a stop is seen
  if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
  if (broken_) return Error(Code::unavailable, "the connection was lost");
  if (start(context_, call) != 0) return failed(doing, EIO);
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  std::optional<Error> ended;
  while (!call.done) {
    pollfd waited{.fd = nfs_get_fd(context_),
                  .events = static_cast<short>(nfs_which_events(context_)),
                  .revents = 0};
    const int ready = ::poll(&waited, 1, kLook);
    if (ready < 0 && errno != EINTR) ended = errno_error(errno, "poll");
    if (!ended && nfs_service(context_, ready > 0 ? waited.revents : 0) < 0 && !call.done)
      ended = Error(Code::unavailable, fmt::format("{}: {}", doing, nfs_get_error(context_)));
    if (!ended && !call.done && stop.stop_requested()) ended = Error(Code::cancelled, "stopped");
    if (!ended && !call.done && std::chrono::steady_clock::now() > deadline) {
      ended = Error(Code::unavailable,
                    fmt::format("{}: no answer within {} s", doing, timeout_.count() / 1000));
    }
    if (ended) break;
  }
  if (!call.done) {  // the request would answer into this stack: it must go first
    broken_ = true;
    nfs_destroy_context(std::exchange(context_, nullptr));
    return std::move(*ended);
  }
  if (call.result < 0) return failed(doing, -call.result);
  return {};
}

Result<std::unique_ptr<Connection>> Connection::make(const Server& server,
                                                     const std::stop_token& stop) {
  std::unique_ptr<Connection> made(new Connection(server.timeout));
  made->context_ = nfs_init_context();
  if (made->context_ == nullptr) return Error(Code::exhausted, "no memory for a connection");
  nfs_context* const context = made->context_;
  // Only a URL sets the port; names in it are not ours, so they need no encoding.
  const std::string url = fmt::format("nfs://headrace/x?version=4&nfsport={}&autoreconnect=0",
                                      server.port == 0 ? 2049 : server.port);
  nfs_url* const parsed = nfs_parse_url_dir(context, url.c_str());
  if (parsed == nullptr) return Error(Code::invalid, nfs_get_error(context));
  nfs_destroy_url(parsed);
  nfs4_set_client_name(context, client_name().c_str());
  nfs_set_timeout(context, static_cast<int>(server.timeout.count()));
  Call call;
  HEADRACE_TRY(made->run("connect", call, stop, [&server](nfs_context* on, Call& mount) {
    return nfs_mount_async(on, server.host.c_str(), server.root.c_str(), &Call::answered, &mount);
  }));
  return made;
}

Connection::~Connection() {
  if (context_ != nullptr) nfs_destroy_context(context_);
}

Result<File> Connection::open(const std::string& path, const std::stop_token& stop) {
  Call call;
  HEADRACE_TRY(run("open", call, stop, [&path](nfs_context* on, Call& open) {
    return nfs_open_async(on, path.c_str(), O_RDONLY, &Call::answered, &open);
  }));
  return File(*this, static_cast<nfsfh*>(call.data));
}

Result<File> Connection::create(const std::string& path, const std::stop_token& stop) {
  Call call;
  HEADRACE_TRY(run("create", call, stop, [&path](nfs_context* on, Call& open) {
    return nfs_open2_async(on, path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, kFileMode,
                           &Call::answered, &open);
  }));
  return File(*this, static_cast<nfsfh*>(call.data));
}

Result<Status> Connection::status(const std::string& path, const std::stop_token& stop) {
  Call call;
  HEADRACE_TRY(run("stat", call, stop, [&path](nfs_context* on, Call& look) {
    return nfs_stat64_async(on, path.c_str(), &Call::answered_status, &look);
  }));
  return status_of(call.found);
}

Result<std::vector<Entry>> Connection::list(const std::string& path, const std::stop_token& stop) {
  Call call;
  HEADRACE_TRY(run("read folder", call, stop, [&path](nfs_context* on, Call& open) {
    return nfs_opendir_async(on, path.c_str(), &Call::answered, &open);
  }));
  auto* const folder = static_cast<nfsdir*>(call.data);
  std::vector<Entry> entries;
  while (const nfsdirent* const found = nfs_readdir(context_, folder)) {
    Entry entry{.kind = Entry::Kind::other, .name = found->name, .pin = {}};
    if (entry.name == "." || entry.name == "..") continue;
    if (found->type == kRegular) entry.kind = Entry::Kind::file;
    if (found->type == kDirectory) entry.kind = Entry::Kind::folder;
    if (found->type == kLink) entry.kind = Entry::Kind::link;
    entry.pin = {.modified_ns = object_time(static_cast<std::int64_t>(found->mtime.tv_sec),
                                            static_cast<std::int64_t>(found->mtime_nsec)),
                 .size = found->size};
    entries.push_back(std::move(entry));
  }
  nfs_closedir(context_, folder);
  return entries;
}

Result<void> Connection::make_folder(const std::string& path, const std::stop_token& stop) {
  Call call;
  return run("make folder", call, stop, [&path](nfs_context* on, Call& made) {
    return nfs_mkdir2_async(on, path.c_str(), kFolderMode, &Call::answered, &made);
  });
}

Result<void> Connection::remove(const std::string& path, const std::stop_token& stop) {
  Call call;
  return run("remove", call, stop, [&path](nfs_context* on, Call& gone) {
    return nfs_unlink_async(on, path.c_str(), &Call::answered, &gone);
  });
}

Result<void> Connection::remove_folder(const std::string& path, const std::stop_token& stop) {
  Call call;
  return run("remove folder", call, stop, [&path](nfs_context* on, Call& gone) {
    return nfs_rmdir_async(on, path.c_str(), &Call::answered, &gone);
  });
}

Result<void> Connection::rename(const std::string& from, const std::string& to,
                                const std::stop_token& stop) {
  Call call;
  return run("rename", call, stop, [&from, &to](nfs_context* on, Call& renamed) {
    return nfs_rename_async(on, from.c_str(), to.c_str(), &Call::answered, &renamed);
  });
}

File::File(File&& other) noexcept
    : connection_(other.connection_), handle_(std::exchange(other.handle_, nullptr)) {}

File::~File() {
  // Where the connection is gone, the handle went with it.
  if (handle_ == nullptr || connection_->broken()) return;
  Connection::Call call;
  std::ignore =
      connection_->run("close", call, {}, [this](nfs_context* on, Connection::Call& done) {
        return nfs_close_async(on, handle_, &Connection::Call::answered, &done);
      });
}

Result<Status> File::status(const std::stop_token& stop) {
  Connection::Call call;
  HEADRACE_TRY(
      connection_->run("stat", call, stop, [this](nfs_context* on, Connection::Call& look) {
        return nfs_fstat64_async(on, handle_, &Connection::Call::answered_status, &look);
      }));
  return status_of(call.found);
}

Result<std::size_t> File::read(std::span<std::byte> into, std::uint64_t offset,
                               const std::stop_token& stop) {
  // nfs_get_readmax says 4 KiB of every NFSv4 server, since libnfs 4.0 asks none; each answers with
  // as much as it likes to.
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  std::size_t filled = 0;
  while (filled < into.size()) {
    const auto piece = into.subspan(filled, std::min(into.size() - filled, kMost));
    Connection::Call call;
    call.into = piece;
    HEADRACE_TRY(connection_->run("read", call, stop, [&](nfs_context* on, Connection::Call& got) {
      return nfs_pread_async(on, handle_, offset + filled, piece.size(),
                             &Connection::Call::answered_bytes, &got);
    }));
    if (call.result == 0) break;
    filled += static_cast<std::size_t>(call.result);
  }
  return filled;
}

Result<void> File::write(ByteSpan bytes, std::uint64_t offset, const std::stop_token& stop) {
  constexpr std::size_t kPiece = 2048;  // libnfs 4.0 encodes a request into 4 KiB
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    Connection::Call call;
    HEADRACE_TRY(connection_->run("write", call, stop, [&](nfs_context* on, Connection::Call& put) {
      return nfs_pwrite_async(on, handle_, offset, piece.size(), piece.data(),
                              &Connection::Call::answered, &put);
    }));
    if (call.result == 0) return Error(Code::unavailable, "write: the server took nothing");
    bytes = bytes.subspan(static_cast<std::size_t>(call.result));
    offset += static_cast<std::uint64_t>(call.result);
  }
  return {};
}

Result<void> File::sync(const std::stop_token& stop) {
  Connection::Call call;
  return connection_->run("fsync", call, stop, [this](nfs_context* on, Connection::Call& done) {
    return nfs_fsync_async(on, handle_, &Connection::Call::answered, &done);
  });
}

bool is_stale(const Error& error) {
  return error.code() == Code::unavailable && error.cause() == kStale;
}

}  // namespace headrace::nfs
