// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/operations.h"

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <tuple>
#include <vector>

#include "headrace/consumers/mount/errno_code.h"
#include "headrace/consumers/mount/names.h"
#include "headrace/storage/object_time.h"

namespace headrace::mount {
namespace {

/// Everything is pinned to what was seen first, so the kernel may keep it: a year.
constexpr double kForever = 365.0 * 86400;
constexpr std::uint64_t kBlock = 512;            // what st_blocks counts in, always
constexpr blksize_t kPreferred = 128L * 1024;    // what programs like to read at once
constexpr unsigned kRequestsQueued = 128;        // by the kernel, ahead of its readers
constexpr unsigned kLargestRequest = 1U << 20U;  // as large as the kernel makes them

Service& service_of(fuse_req_t request) {
  return *static_cast<Service*>(fuse_req_userdata(request));
}

/// A stop when the program that waits is interrupted, or when the mount ends.
class Waiting {
 public:
  explicit Waiting(fuse_req_t request)
      : request_(request),
        whole_(service_of(request).stop.get_token(), [this] { source_.request_stop(); }) {
    fuse_req_interrupt_func(request, &Waiting::interrupted, this);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  /// Before the reply, after which the request is no more.
  ~Waiting() { fuse_req_interrupt_func(request_, nullptr, nullptr); }

  std::stop_token token() const { return source_.get_token(); }

 private:
  static void interrupted(fuse_req_t, void* self) {
    static_cast<Waiting*>(self)->source_.request_stop();
  }

  fuse_req_t request_;
  std::stop_source source_;
  std::stop_callback<std::function<void()>> whole_;
};

void fail(fuse_req_t request, const Error& error) {
  Service& service = service_of(request);
  const int number = errno_code(error.code());
  // Looking for what is not there is everyday work of programs, no trouble; nor is a Ctrl-C.
  if (error.code() != Code::not_found && error.code() != Code::cancelled) {
    service.errors.fetch_add(1, std::memory_order_relaxed);
    if (service.options.on_error) service.options.on_error(number, error);
  }
  fuse_reply_err(request, number);
}

struct stat attributes(Service& service, const Node& node) {
  struct stat status {};
  const MountOptions& options = service.options;
  status.st_ino = service.tree.inode(node.id);
  status.st_mode =
      node.folder ? S_IFDIR | (0555U & ~options.umask) : S_IFREG | (0444U & ~options.umask);
  status.st_nlink = 1;  // of a folder: "nobody counted", as btrfs says it
  status.st_uid = options.uid.value_or(::getuid());
  status.st_gid = options.gid.value_or(::getgid());
  status.st_size = static_cast<off_t>(node.size);
  status.st_blocks = static_cast<blkcnt_t>((node.size + kBlock - 1) / kBlock);
  status.st_blksize = kPreferred;
  status.st_mtim = timespec_of(node.modified_ns);
  status.st_ctim = status.st_atim = status.st_mtim;
  return status;
}

fuse_entry_param entry_of(Service& service, const Node& node) {
  fuse_entry_param entry{};
  entry.ino = node.id;
  entry.attr = attributes(service, node);
  entry.attr_timeout = entry.entry_timeout = kForever;
  return entry;
}

void init(void* data, fuse_conn_info* connection) {
  Service& service = *static_cast<Service*>(data);
  const auto take = [connection](unsigned what) {
    if ((connection->capable & what) != 0) connection->want |= what;
  };
  // No request for open, close, opendir: there is nothing that they could say, and a picture is
  // read by one request instead of three.
  take(FUSE_CAP_NO_OPEN_SUPPORT);
  take(FUSE_CAP_NO_OPENDIR_SUPPORT);
  service.ask_no_open = (connection->want & FUSE_CAP_NO_OPEN_SUPPORT) != 0;
  service.ask_no_opendir = (connection->want & FUSE_CAP_NO_OPENDIR_SUPPORT) != 0;
  take(FUSE_CAP_ASYNC_READ);
  take(FUSE_CAP_PARALLEL_DIROPS);
  take(FUSE_CAP_READDIRPLUS);
  take(FUSE_CAP_READDIRPLUS_AUTO);
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_SPLICE_READ);
  connection->max_write = kLargestRequest;  // bounds reads too
  connection->max_read = kLargestRequest;   // libfuse wants the mount option's value again
  connection->max_background = kRequestsQueued;
  connection->congestion_threshold = kRequestsQueued * 3 / 4;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  Service& service = service_of(request);
  service.lookups.fetch_add(1, std::memory_order_relaxed);
  if (std::string_view(name).size() > kLongestName) {
    fuse_reply_err(request, ENAMETOOLONG);
    return;
  }
  const auto found = [&]() -> Result<Node> {
    const Waiting waiting(request);
    return service.tree.lookup(static_cast<NodeId>(parent), name, waiting.token());
  }();
  if (found) {
    const auto entry = entry_of(service, *found);
    fuse_reply_entry(request, &entry);
  } else if (found.error().code() == Code::not_found) {
    fuse_entry_param nothing{};  // and the kernel may remember that
    nothing.entry_timeout = kForever;
    fuse_reply_entry(request, &nothing);
  } else {
    fail(request, found.error());
  }
}

void getattr(fuse_req_t request, fuse_ino_t id, fuse_file_info* /*file*/) {
  Service& service = service_of(request);
  const auto node = service.tree.node(static_cast<NodeId>(id));
  if (!node) return fail(request, node.error());
  const struct stat status = attributes(service, *node);
  fuse_reply_attr(request, &status, kForever);
}

void open(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* file) {
  if ((file->flags & O_ACCMODE) != O_RDONLY) {
    fuse_reply_err(request, EROFS);
  } else if (service_of(request).ask_no_open) {
    fuse_reply_err(request, ENOSYS);  // it asks no more, and keeps what it has read of a file
  } else {
    file->keep_cache = 1;
    fuse_reply_open(request, file);
  }
}

void opendir(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* file) {
  if (service_of(request).ask_no_opendir) {
    fuse_reply_err(request, ENOSYS);
  } else {
    file->keep_cache = file->cache_readdir = 1;
    fuse_reply_open(request, file);
  }
}

void read(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
          fuse_file_info* /*file*/) {
  Service& service = service_of(request);
  const auto slices = [&] {
    const Waiting waiting(request);
    return service.reader.read(static_cast<NodeId>(id), static_cast<std::uint64_t>(offset), size,
                               waiting.token());
  }();
  if (!slices) return fail(request, slices.error());
  std::vector<iovec> parts;
  parts.reserve(slices->size());
  for (const Bytes& slice : *slices) {
    // writev only reads; its type does not say so.
    parts.push_back({const_cast<std::byte*>(slice.data()), slice.size()});
  }
  fuse_reply_iov(request, parts.data(), static_cast<int>(parts.size()));
}

/// Fills the kernel's buffer. A place in a folder is 1 for ".", 2 for "..", else the number of the
/// child + 2; so a program may go back to any of them.
class DirectoryPage {
 public:
  DirectoryPage(fuse_req_t request, std::size_t size, bool plus)
      : request_(request), service_(service_of(request)), plus_(plus), buffer_(size) {}

  /// False when it is full.
  bool add(const char* name, const Node& node, off_t place) {
    const std::size_t left = buffer_.size() - used_;
    std::size_t needed = 0;
    if (plus_) {
      fuse_entry_param entry = entry_of(service_, node);
      const std::string_view text = name;
      if (text == "." || text == "..") entry.ino = 0;  // the kernel takes no reference to these
      needed = fuse_add_direntry_plus(request_, buffer_.data() + used_, left, name, &entry, place);
    } else {
      struct stat status {};
      status.st_ino = service_.tree.inode(node.id);
      status.st_mode = node.folder ? S_IFDIR : S_IFREG;
      needed = fuse_add_direntry(request_, buffer_.data() + used_, left, name, &status, place);
    }
    if (needed > left) return false;
    used_ += needed;
    return true;
  }

  void reply() { fuse_reply_buf(request_, buffer_.data(), used_); }

 private:
  fuse_req_t request_;
  Service& service_;
  const bool plus_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

constexpr off_t kChildren = 2;

void read_folder(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, bool plus) {
  Service& service = service_of(request);
  service.lists.fetch_add(1, std::memory_order_relaxed);
  const auto folder = static_cast<NodeId>(id);
  DirectoryPage page(request, std::min<std::size_t>(size, kLargestRequest), plus);
  const Node self{.id = folder, .folder = true};
  const Node above{.id = service.tree.parent(folder), .folder = true};
  bool room = true;
  if (offset < 1) room = page.add(".", self, 1);
  if (room && offset < 2) room = page.add("..", above, kChildren);
  NodeId after = offset <= kChildren ? kNone : static_cast<NodeId>(offset - kChildren);
  while (room) {
    constexpr std::size_t kAtOnce = 128;
    const auto children = [&] {
      const Waiting waiting(request);
      return service.tree.children(folder, after, kAtOnce, waiting.token());
    }();
    if (!children) return fail(request, children.error());
    for (const Child& child : *children) {
      after = child.node.id;
      room = page.add(child.name.c_str(), child.node, static_cast<off_t>(after) + kChildren);
      if (!room) break;
    }
    if (children->size() < kAtOnce) break;
  }
  page.reply();
}

void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, fuse_file_info*) {
  read_folder(request, id, size, offset, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
                 fuse_file_info*) {
  read_folder(request, id, size, offset, true);
}

void statfs(fuse_req_t request, fuse_ino_t /*id*/) {
  struct statvfs status {};
  status.f_bsize = static_cast<unsigned long>(kPreferred);
  status.f_frsize = kBlock;
  status.f_namemax = kLongestName;
  status.f_flag = ST_RDONLY;
  status.f_files = service_of(request).tree.size();
  fuse_reply_statfs(request, &status);
}

/// Nodes live as long as the mount, so there is nothing to forget.
void forget(fuse_req_t request, fuse_ino_t /*id*/, std::uint64_t /*count*/) {
  fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t /*count*/, fuse_forget_data* /*what*/) {
  fuse_reply_none(request);
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  // What is not here is ENOSYS, which the kernel remembers; and the mount is read-only for the
  // kernel, so that every attempt to write is EROFS before it gets here.
  static const fuse_lowlevel_ops all{.init = init,
                                     .lookup = lookup,
                                     .forget = forget,
                                     .getattr = getattr,
                                     .open = open,
                                     .read = read,
                                     .opendir = opendir,
                                     .readdir = readdir,
                                     .statfs = statfs,
                                     .forget_multi = forget_multi,
                                     .readdirplus = readdirplus};
  return all;
}

}  // namespace headrace::mount
