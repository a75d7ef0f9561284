// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/command_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "headrace/base/unique_fd.h"

namespace headrace::s3 {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20U;

/// The child, as the leader of a group of its own, so that what it starts ends with it.
Result<pid_t> spawn(const std::string& command, int out) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string text = command;
  std::array<char*, 4> arguments = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = -1;
  const int failed =
      ::posix_spawn(&child, shell.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return errno_error(failed, "start /bin/sh");
  return child;
}

}  // namespace

Result<std::string> command_output(const std::string& command, std::chrono::seconds limit,
                                   const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  HEADRACE_TRY(const pid_t child, spawn(command, out.get()));
  out = UniqueFd();
  const auto until = std::chrono::steady_clock::now() + limit;
  std::string text;
  std::optional<Error> error;
  while (!error) {
    if (stop.stop_requested()) error = Error(Code::cancelled, "stopped");
    if (std::chrono::steady_clock::now() >= until) {
      error = Error(Code::unavailable,
                    fmt::format("credential_process did not end in {} s", limit.count()));
    }
    if (text.size() > kMost)
      error = Error(Code::invalid, "credential_process prints more than 1 MiB");
    pollfd ready{.fd = in.get(), .events = POLLIN, .revents = 0};
    if (error || ::poll(&ready, 1, 100) <= 0) continue;
    std::array<char, 4096> piece{};
    const auto got = ::read(in.get(), piece.data(), piece.size());
    if (got == 0) break;
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  if (error) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (error) return *std::move(error);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return Error(Code::invalid,
               WIFEXITED(status)
                   ? fmt::format("credential_process ended with code {}", WEXITSTATUS(status))
                   : std::string("credential_process was killed by a signal"),
               "run it by hand: it must print keys as JSON and end with 0");
}

}  // namespace headrace::s3
