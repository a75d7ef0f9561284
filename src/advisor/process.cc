// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {  // glibc 2.36's header forgets to say so
#include <sys/pidfd.h>
}

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <tuple>

#include "headrace/base/unique_fd.h"

namespace headrace::advisor {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxOut = 16U << 20U;
constexpr std::size_t kMaxErr = 64U << 10U;
constexpr auto kGrace = std::chrono::seconds(2);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return errno_error(errno, "pipe");
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

/// What a child starts with; freed at the end of the scope.
class SpawnSettings {
 public:
  SpawnSettings(int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  Result<pid_t> spawn(const std::vector<std::string>& argv) const {
    std::vector<char*> pointers;
    pointers.reserve(argv.size() + 1);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): posix_spawn's signature; it only reads
    for (const auto& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    pid_t pid = 0;
    const int error =
        posix_spawnp(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environ);
    if (error != 0) return errno_error(error, "start").at(argv.front());
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Appends what is there to read. False at its end.
bool drain(const UniqueFd& from, std::string& into) {
  std::array<char, 16384> buffer{};
  for (;;) {
    const auto got = read(from.get(), buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      return got < 0 && errno == EAGAIN;
    }
  }
}

int exit_code(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Waits for the child while it reads what it prints; asks it to end when a stop comes.
class Watch {
 public:
  Watch(pid_t pid, Pipe& out, Pipe& err, Ended& ended)
      : pid_(pid), out_(out), err_(err), ended_(ended) {}

  Result<void> until_exit(const std::stop_token& stop) {
    const UniqueFd exited(pidfd_open(pid_, 0));
    const UniqueFd wake(eventfd(0, EFD_CLOEXEC));
    if (!exited.valid() || !wake.valid()) {
      const auto error = errno;
      end_now();
      return errno_error(error, "watch a process");
    }
    const std::stop_callback on_stop(stop, [&wake] { eventfd_write(wake.get(), 1); });
    for (;;) {
      std::array<pollfd, 4> waits{{{exited.get(), POLLIN, 0},
                                   {stopping_ ? -1 : wake.get(), POLLIN, 0},
                                   {out_.read.valid() ? out_.read.get() : -1, POLLIN, 0},
                                   {err_.read.valid() ? err_.read.get() : -1, POLLIN, 0}}};
      std::ignore = poll(waits.data(), waits.size(), stopping_ ? 100 : -1);
      take();
      if (waits[0].revents != 0) break;
      if (stop.stop_requested()) ask_to_end();
      if (ended_.out.size() > kMaxOut) {
        end_now();
        return Error(Code::exhausted, "it printed more than 16 MiB");
      }
    }
    ended_.code = exit_code(pid_);
    take();  // what it printed last; a grandchild that holds the pipe open is not waited for
    return {};
  }

 private:
  void take() {
    if (out_.read.valid() && !drain(out_.read, ended_.out)) out_.read = UniqueFd();
    if (err_.read.valid() && !drain(err_.read, ended_.err)) err_.read = UniqueFd();
    if (ended_.err.size() > kMaxErr) ended_.err.erase(0, ended_.err.size() - kMaxErr);
  }
  void ask_to_end() {
    if (!stopping_) {
      stopping_ = true;
      asked_ = SteadyClock::now();
      kill(pid_, SIGTERM);
    } else if (SteadyClock::now() - asked_ > kGrace) {
      kill(pid_, SIGKILL);
    }
  }
  void end_now() const {
    kill(pid_, SIGKILL);
    exit_code(pid_);
  }

  pid_t pid_;
  Pipe& out_;
  Pipe& err_;
  Ended& ended_;
  bool stopping_ = false;
  SteadyClock::time_point asked_;
};

}  // namespace

Result<Ended> run_process(const std::vector<std::string>& argv, const std::stop_token& stop) {
  HEADRACE_TRY(auto out, make_pipe());
  HEADRACE_TRY(auto err, make_pipe());
  const SpawnSettings settings(out.write.get(), err.write.get());
  const auto begin = SteadyClock::now();
  HEADRACE_TRY(const auto pid, settings.spawn(argv));
  out.write = UniqueFd();
  err.write = UniqueFd();
  Ended ended;
  HEADRACE_TRY(Watch(pid, out, err, ended).until_exit(stop).at(argv.front()));
  ended.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  if (stop.stop_requested()) return Error(Code::cancelled, "stopped").at(argv.front());
  return ended;
}

}  // namespace headrace::advisor
