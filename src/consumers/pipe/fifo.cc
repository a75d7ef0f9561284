// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/fifo.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace headrace::pipe {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr Seconds kLookAgain{0.01};  // at a path, or for a reader: there is no event to wait for
constexpr const char* kNobody = "no program has opened it to write, or none wrote anything,";
constexpr int kFifoBytes = 1 << 20;  // the most that an ordinary user may have

/// A point in time to wait for; or never.
class Deadline {
 public:
  explicit Deadline(Seconds timeout)
      : never_(timeout <= Seconds(0)),
        at_(SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(timeout)) {}
  bool passed() const { return !never_ && SteadyClock::now() >= at_; }

 private:
  bool never_;
  SteadyClock::time_point at_;
};

std::string at_most(Seconds timeout) {
  return timeout <= Seconds(0) ? "" : fmt::format("up to {:g} s ", timeout.count());
}

/// What the reader waits for before its FIFO exists.
std::string awaited(const std::string& dir, const std::string& path, Seconds timeout) {
  std::error_code unknown;
  return fmt::format("waits {}for the FIFO {} to appear, which another program makes{}",
                     at_most(timeout), path,
                     std::filesystem::exists(dir, unknown) ? "" : "; its folder is missing too");
}

Error stopped(const std::string& path) { return Error(Code::cancelled, "stopped").at(path); }

sigset_t sigpipe_only() {
  sigset_t set{};
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

BlockSigpipe::BlockSigpipe() {
  const sigset_t set = sigpipe_only();
  sigset_t before{};
  pthread_sigmask(SIG_BLOCK, &set, &before);
  was_blocked_ = sigismember(&before, SIGPIPE) == 1;
}

BlockSigpipe::~BlockSigpipe() {
  if (was_blocked_) return;
  const sigset_t set = sigpipe_only();
  const timespec at_once{};
  while (sigtimedwait(&set, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void StopEvent::Raise::operator()() const {
  const std::uint64_t one = 1;
  std::ignore = ::write(fd, &one, sizeof one);  // an eventfd with room takes it
}

Result<std::unique_ptr<StopEvent>> StopEvent::make(const std::stop_token& stop) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return errno_error(errno, "eventfd");
  return std::unique_ptr<StopEvent>(new StopEvent(std::move(event), stop));
}

StopEvent::StopEvent(UniqueFd event, const std::stop_token& stop)
    : event_(std::move(event)), callback_(stop, Raise{event_.get()}) {}

StopEvent::Woken StopEvent::wait(int fd, short events, Seconds timeout, short& seen) const {
  const Deadline deadline(timeout);
  for (;;) {
    pollfd fds[2] = {{event_.get(), POLLIN, 0}, {fd, events, 0}};
    const double ms = timeout <= Seconds(0) ? -1.0 : std::max(1.0, timeout.count() * 1000);
    const int ready = ::poll(fds, 2, static_cast<int>(std::min(ms, 1e9)));
    if (fds[0].revents != 0) return Woken::stopped;
    if (ready > 0) {
      seen = fds[1].revents;
      return Woken::ready;
    }
    if (deadline.passed()) return Woken::late;
  }
}

StopEvent::Woken StopEvent::sleep(Seconds time) const {
  short nothing = 0;
  return wait(-1, 0, time, nothing);
}

Result<void> make_fifo(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISFIFO(status.st_mode)) {
      return Error(Code::invalid, "is there already, and is no FIFO",
                   "remove it, or take another folder or channel name")
          .at(path);
    }
    if (::unlink(path.c_str()) != 0) return errno_error(errno, "remove the old FIFO").at(path);
  }
  constexpr mode_t mode = 0600;
  if (::mkfifo(path.c_str(), mode) != 0) return errno_error(errno, "make the FIFO").at(path);
  return {};
}

Result<FifoWriter> FifoWriter::open(const std::string& path, const StopEvent& stop, Seconds timeout,
                                    const WaitHook& tell) {
  const Deadline deadline(timeout);
  std::optional<Deadline> quiet;
  if (tell.tell) quiet.emplace(tell.after);
  for (;;) {
    // Without O_NONBLOCK open itself would wait for a reader, and could not be stopped.
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd.valid()) {
      std::ignore = ::fcntl(fd.get(), F_SETPIPE_SZ, kFifoBytes);  // NOLINT; larger is only faster
      return FifoWriter(path, std::move(fd), stop);
    }
    if (errno != ENXIO && errno != EINTR) return errno_error(errno, "open the FIFO").at(path);
    if (deadline.passed()) {
      return Error(Code::unavailable,
                   fmt::format("no reader opened the FIFO within {:g} s", timeout.count()),
                   "start the reader, or give more time with --open-timeout")
          .at(path);
    }
    if (quiet && quiet->passed()) {
      tell.tell(fmt::format("waits {}for a reader of {}", at_most(timeout), path));
      quiet.reset();
    }
    if (stop.sleep(kLookAgain) == StopEvent::Woken::stopped) return stopped(path);
  }
}

Result<bool> FifoWriter::write(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EPIPE) return false;
    if (errno != EAGAIN) return errno_error(errno, "write to the FIFO").at(path_);
    short seen = 0;
    if (stop_->wait(fd_.get(), POLLOUT, Seconds(0), seen) == StopEvent::Woken::stopped) {
      return stopped(path_);
    }
  }
  return true;
}

std::string fifo_path(const std::string& dir, const std::string& channel, std::uint64_t epoch) {
  return fmt::format("{}/{}_{}", dir, channel, epoch);
}

std::string known_channels(const std::string& dir) {
  std::set<std::string> names;
  std::error_code ignored;  // a folder that cannot be read has no channels
  for (const auto& entry : std::filesystem::directory_iterator(dir, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto underscore = name.rfind('_');
    if (entry.is_fifo(ignored) && underscore != std::string::npos &&
        is_number(std::string_view(name).substr(underscore + 1))) {
      names.insert(name.substr(0, underscore));
    } else if (entry.is_directory(ignored) && !name.starts_with('.')) {
      names.insert(fmt::format("{} (a folder: File mode)", name));
    }
  }
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? "none" : text;
}

Result<FifoReader> FifoReader::open(const std::string& dir, const std::string& channel,
                                    std::uint64_t epoch, const Timeouts& timeouts,
                                    const StopEvent& stop, const WaitHook& tell) {
  const std::string path = fifo_path(dir, channel, epoch);
  const Deadline deadline(timeouts.appear);
  std::optional<Deadline> quiet;
  if (tell.tell) quiet.emplace(tell.after);
  for (;;) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
      if (!S_ISFIFO(status.st_mode)) {
        return Error(Code::invalid, "is no FIFO", "mode pipe needs a channel in Pipe mode")
            .at(path);
      }
      UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
      if (fd.valid()) return FifoReader(path, std::move(fd), timeouts, stop, tell);
    }
    if (errno != ENOENT && errno != EINTR) return errno_error(errno, "open the FIFO").at(path);
    const std::string folder = fmt::format("{}/{}", dir, channel);
    if (::stat(folder.c_str(), &status) == 0) {
      return Error(Code::invalid,
                   S_ISDIR(status.st_mode) ? "is a folder: the channel is in File mode"
                                           : "is a file, no FIFO",
                   "read it in mode direct, or set the channel to Pipe mode")
          .at(folder);
    }
    if (deadline.passed()) {
      return Error(epoch == 0 ? Code::not_found : Code::unavailable,
                   fmt::format("the FIFO did not appear within {:g} s; channels in {}: {}",
                               timeouts.appear.count(), dir, known_channels(dir)),
                   fmt::format("start its writer, as with headrace pipe URI --dir {} --channel {} "
                               "--order global; check the names; or wait longer with --pipe-wait",
                               dir, channel))
          .at(path);
    }
    if (quiet && quiet->passed()) {
      tell.tell(awaited(dir, path, timeouts.appear));
      quiet.reset();
    }
    if (stop.sleep(kLookAgain) == StopEvent::Woken::stopped) return stopped(path);
  }
}

StopEvent::Woken FifoReader::wait_for_bytes() {
  // Polled first: before a writer has come, read would say 0, which is the end's answer.
  short seen = 0;
  Seconds left = timeouts_.data;
  if (tell_.tell && (left <= Seconds(0) || left > tell_.after)) {
    const auto woken = stop_->wait(fd_.get(), POLLIN, tell_.after, seen);
    const auto tell = std::exchange(tell_.tell, {});
    if (woken != StopEvent::Woken::late) return woken;
    tell(
        fmt::format("waits {}for the first bytes in {}: {} so far", at_most(left), path_, kNobody));
    if (left > Seconds(0)) left -= tell_.after;
  }
  return stop_->wait(fd_.get(), POLLIN, left, seen);
}

Error FifoReader::late() const {
  const double seconds = timeouts_.data.count();
  if (begun_) {
    return Error(Code::unavailable,
                 fmt::format("no data came for {:g} s, and the writer has not closed", seconds),
                 "look at the writer, or give more time with --pipe-wait")
        .at(path_);
  }
  return Error(
             Code::unavailable, fmt::format("{} within {:g} s", kNobody, seconds),
             "start its writer, or look why it writes nothing; or give more time with --pipe-wait")
      .at(path_);
}

Result<std::size_t> FifoReader::read(std::span<std::byte> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    switch (wait_for_bytes()) {
      case StopEvent::Woken::stopped:
        return stopped(path_);
      case StopEvent::Woken::late:
        return late();
      case StopEvent::Woken::ready:
        break;
    }
    const ssize_t n = ::read(fd_.get(), into.data() + got, into.size() - got);
    if (n == 0) return got;
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      return errno_error(errno, "read the FIFO").at(path_);
    }
    if (n <= 0) continue;
    begun_ = true;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

}  // namespace headrace::pipe
