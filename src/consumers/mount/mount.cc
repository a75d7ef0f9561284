// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/mount.h"

#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fmt/format.h>
#include <fuse_lowlevel.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <tuple>
#include <vector>

#include "headrace/base/unique_fd.h"
#include "headrace/consumers/mount/mount_point.h"
#include "headrace/consumers/mount/operations.h"
#include "headrace/consumers/mount/tree.h"

namespace headrace::mount {
namespace {

constexpr unsigned kKernelAhead = 1024;  // KiB that the kernel reads ahead, in one request

struct EndSession {
  void operator()(fuse_session* session) const { fuse_session_destroy(session); }
};
using SessionPtr = std::unique_ptr<fuse_session, EndSession>;

class FuseMount final : public Mount {
 public:
  FuseMount(std::string folder, MountOptions options, std::unique_ptr<Tree> tree, Store& store,
            const Context& context)
      : folder_(std::move(folder)),
        options_(std::move(options)),
        tree_(std::move(tree)),
        reader_(store, *tree_, context, options_.reader),
        service_(*tree_, reader_, options_) {}
  FuseMount(const FuseMount&) = delete;
  FuseMount& operator=(const FuseMount&) = delete;
  ~FuseMount() override {
    if (!mounted_) return;
    fuse_session_unmount(session_.get());
    if (first_look_.joinable()) first_look_.join();  // now it is answered, if it was not before
    const auto left = look(folder_);  // after an abort libfuse leaves the folder covered
    if (left && *left == Covered::stale) std::ignore = unmount(folder_);
  }

  Result<void> attach(const std::string& name) {
    std::vector<std::string> words{"headrace"};
    std::string flags = fmt::format(
        "ro,nosuid,nodev,noatime,default_permissions,fsname={},subtype=headrace,max_read={}", name,
        1U << 20U);
    if (options_.allow_other) flags += ",allow_other";
    if (::access("/usr/bin/fusermount3", X_OK) == 0) flags += ",auto_unmount";
    words.insert(words.end(), {"-o", flags});
    std::vector<char*> argv;
    argv.reserve(words.size());
    for (auto& word : words) argv.push_back(word.data());
    fuse_args arguments{static_cast<int>(argv.size()), argv.data(), 0};
    session_.reset(fuse_session_new(&arguments, &operations(), sizeof(operations()), &service_));
    fuse_opt_free_args(&arguments);
    if (session_ == nullptr) return Error(Code::invalid, "libfuse refused the options").at(folder_);
    if (fuse_session_mount(session_.get(), folder_.c_str()) != 0) {
      return Error(Code::unavailable, "the mount failed",
                   options_.allow_other && ::geteuid() != 0
                       ? "--allow-other needs user_allow_other in /etc/fuse.conf"
                       : "libfuse's message above says why")
          .at(folder_);
    }
    mounted_ = true;
    const int fd = fuse_session_fd(session_.get());
    const int flags_now = ::fcntl(fd, F_GETFL);
    if (::fcntl(fd, F_SETFL, flags_now | O_NONBLOCK) != 0) return errno_error(errno, "fcntl");
    over_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!over_.valid()) return errno_error(errno, "eventfd");
    return {};
  }

  Result<void> serve(const std::stop_token& stop) override {
    {
      const std::stop_callback at_stop(stop, [this] { end(); });
      std::vector<std::jthread> threads;
      for (unsigned i = 1; i < std::max(options_.threads, 2U); ++i) {
        threads.emplace_back([this] { answer(); });
      }
      first_look_ = std::jthread([this] {
        read_ahead_of_the_kernel();
        if (options_.on_ready && !service_.stop.stop_requested()) options_.on_ready();
      });
      answer();
      end();  // one saw the end: the others must, too
    }
    return {};
  }

  MountStats stats() const override {
    const ReaderCounts& counts = reader_.counts();
    return {.lookups = service_.lookups,
            .lists = service_.lists,
            .reads = counts.reads,
            .bytes = counts.bytes,
            .hits = counts.hits,
            .fetched_ahead = counts.fetched_ahead,
            .dropped = counts.dropped,
            .errors = service_.errors,
            .nodes = tree_->size(),
            .peak_bytes = reader_.budget().peak()};
  }

 private:
  void end() {
    service_.stop.request_stop();
    const std::uint64_t one = 1;
    std::ignore = ::write(over_.get(), &one, sizeof(one));
  }

  /// One of the threads that serve the kernel. The descriptor does not block, and each thread
  /// waits for it beside the end: libfuse's own loop can only be ended by an unmount or a signal.
  void answer() {
    const UniqueFd events(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event asked{}, ended{};
    asked.events = EPOLLIN | EPOLLEXCLUSIVE;  // a request wakes one thread
    ended.events = EPOLLIN;
    ended.data.u32 = 1;
    if (::epoll_ctl(events.get(), EPOLL_CTL_ADD, fuse_session_fd(session_.get()), &asked) != 0 ||
        ::epoll_ctl(events.get(), EPOLL_CTL_ADD, over_.get(), &ended) != 0) {
      return;
    }
    fuse_buf buffer{};
    while (fuse_session_exited(session_.get()) == 0 && !service_.stop.stop_requested()) {
      const int got = fuse_session_receive_buf(session_.get(), &buffer);
      if (got > 0) {
        fuse_session_process_buf(session_.get(), &buffer);
      } else if (got == -EAGAIN) {
        epoll_event happened{};
        std::ignore = ::epoll_wait(events.get(), &happened, 1, -1);
      } else if (got != -EINTR) {
        break;  // unmounted
      }
    }
    std::free(buffer.mem);  // libfuse's malloc
  }

  /// Its first look into the folder is answered once the kernel and libfuse have agreed.
  /// The kernel asks for 128 KiB at most unless it is told otherwise, which only root may.
  void read_ahead_of_the_kernel() {
    struct stat status {};
    if (::stat(folder_.c_str(), &status) != 0) return;
    std::ofstream setting(fmt::format("/sys/class/bdi/{}:{}/read_ahead_kb", major(status.st_dev),
                                      minor(status.st_dev)));
    setting << kKernelAhead << std::flush;  // without it: more requests, no other difference
  }

  const std::string folder_;
  const MountOptions options_;
  const std::unique_ptr<Tree> tree_;
  ObjectReader reader_;
  Service service_;
  UniqueFd over_;
  SessionPtr session_;
  bool mounted_ = false;
  std::jthread first_look_;
};

}  // namespace

Result<std::unique_ptr<Mount>> Mount::make(Store& store, const Uri& source,
                                           const std::string& folder, const MountOptions& options,
                                           const Context& context, const std::stop_token& stop) {
  if (const std::string why = obstacle(); !why.empty()) {
    return Error(Code::denied, why).at(folder);
  }
  HEADRACE_TRY(const bool freed, prepare(folder, source));
  if (freed) context.notices->add("stale-mount", "freed " + folder + " from a mount left behind");
  HEADRACE_TRY(auto tree, Tree::make(store, context));
  HEADRACE_TRY(tree->check(stop));
  auto mount = std::make_unique<FuseMount>(folder, options, std::move(tree), store, context);
  std::string name = store.describe();
  std::replace(name.begin(), name.end(), ',', '_');  // it stands between commas
  HEADRACE_TRY(mount->attach(name));
  return std::unique_ptr<Mount>(std::move(mount));
}

}  // namespace headrace::mount
