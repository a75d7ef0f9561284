// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/mount_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <tuple>
#include <vector>

#include "headrace/base/process.h"
#include "headrace/base/program.h"
#include "headrace/consumers/mount/mount_point.h"

namespace headrace {
namespace {

constexpr int kCountsAt = 3;  // the child's descriptor of the counters

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// How the child is started: its descriptors, its own process group (Ctrl-C is for its parent,
/// which ends it in order), no blocked signals.
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  void give(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  Result<pid_t> run(std::vector<std::string> words) {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    if (const int error = ::posix_spawn(&child, words.front().c_str(), &actions_, &attributes_,
                                        argv.data(), environ);
        error != 0) {
      return errno_error(error, "start").at(words.front());
    }
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Above the descriptors that dup2 gives the child, so that none of them is overwritten first.
Result<UniqueFd> moved_up(UniqueFd fd) {
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kCountsAt + 1));
  if (!moved.valid()) return errno_error(errno, "duplicate a descriptor");
  return moved;
}

}  // namespace

Result<std::string> find_headrace() {
  if (const char* named = std::getenv("HEADRACE_PROGRAM"); named != nullptr && *named != '\0') {
    return std::string(named);
  }
  HEADRACE_TRY(const std::string beside, program_folder());
  if (is_program(beside + "/headrace")) return beside + "/headrace";
  if (auto found = find_program("headrace")) return *std::move(found);
  return Error(Code::not_found, "mode fastfile starts the program headrace, which is not found",
               "put it on PATH, or name it by HEADRACE_PROGRAM");
}

Result<std::unique_ptr<MountProcess>> MountProcess::start(const MountProcessOptions& options,
                                                          const std::stop_token& stop) {
  HEADRACE_TRY(const std::string program, find_headrace());
  HEADRACE_TRY(Pipe input, make_pipe());
  HEADRACE_TRY(Pipe output, make_pipe());
  HEADRACE_TRY(const UniqueFd its_input, moved_up(std::move(input.read)));
  HEADRACE_TRY(const UniqueFd its_output, moved_up(std::move(output.write)));
  HEADRACE_TRY(UniqueFd words, moved_up(UniqueFd(::memfd_create("headrace-mount", MFD_CLOEXEC))));
  Spawn spawn;
  spawn.give(its_input.get(), STDIN_FILENO);
  spawn.give(its_output.get(), STDOUT_FILENO);
  spawn.give(words.get(), STDERR_FILENO);
  std::vector<std::string> argv{program, "mount", options.uri, options.folder, "--for-job"};
  HEADRACE_TRY(const UniqueFd counts, moved_up(UniqueFd(::dup(options.counts))));
  spawn.give(counts.get(), kCountsAt);
  argv.insert(argv.end(), {"--counts-fd", std::to_string(kCountsAt)});
  if (!options.medium.empty()) {
    argv.insert(argv.end(),
                {"--medium", options.medium, "--scale", fmt::format("{}", options.scale)});
  }
  HEADRACE_TRY(const pid_t child, spawn.run(std::move(argv)));
  std::unique_ptr<MountProcess> made(new MountProcess(options.folder, child, std::move(input.write),
                                                      std::move(output.read), std::move(words)));
  // The child's ends are closed here when this returns; wait_until_ready must see its end.
  HEADRACE_TRY(made->wait_until_ready(stop));
  return made;
}

Result<void> MountProcess::wait_until_ready(const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    pollfd waited{.fd = output_.get(), .events = POLLIN};
    if (::poll(&waited, 1, 100) > 0) {
      std::array<char, 256> text{};
      if (::read(output_.get(), text.data(), text.size()) > 0) return {};
    }
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) == child_) {
      child_ = -1;
      return last_words();
    }
  }
}

Error MountProcess::last_words() const {
  std::array<char, 4096> text{};
  const ssize_t got = ::pread(words_.get(), text.data(), text.size(), 0);
  std::string_view said(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  while (said.ends_with('\n')) said.remove_suffix(1);
  said.remove_prefix(said.rfind('\n') == std::string_view::npos ? 0 : said.rfind('\n') + 1);
  constexpr std::string_view kName = "headrace: ";
  if (said.starts_with(kName)) said.remove_prefix(kName.size());
  if (said.empty()) return {Code::unavailable, "the mount ended before it answered"};
  for (const auto code : {Code::invalid, Code::not_found, Code::denied, Code::changed,
                          Code::corrupt, Code::unavailable, Code::exhausted, Code::cancelled}) {
    const std::string prefix = std::string(to_string(code)) + ": ";
    if (said.starts_with(prefix)) return {code, std::string(said.substr(prefix.size()))};
  }
  return {Code::unavailable, std::string(said)};
}

MountProcess::~MountProcess() { end(); }

void MountProcess::end() {
  input_ = UniqueFd();  // asks it to end
  const auto begin = std::chrono::steady_clock::now();
  for (int asked = 0; child_ > 0;) {
    int status = 0;
    const pid_t got = ::waitpid(child_, &status, WNOHANG);
    if (got == child_ || (got < 0 && errno != EINTR)) break;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (asked == 0 && waited > std::chrono::seconds(5)) {
      ++asked;
      ::kill(child_, SIGTERM);
    }
    if (asked == 1 && waited > std::chrono::seconds(10)) {
      ++asked;
      ::kill(child_, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto left = mount::look(folder_);
  if (left && (*left == mount::Covered::stale || *left == mount::Covered::live)) {
    std::ignore = mount::unmount(folder_);
  }
}

}  // namespace headrace
