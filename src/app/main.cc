// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>
#include <tuple>

#include "command.h"

namespace {

constexpr int kUsage = 2;
constexpr int kStopped = 130;

/// Turns the first SIGINT or SIGTERM into a stop, the second into an end at once.
/// Signals are taken by sigwait on a thread of its own, so no handler runs in the library.
class SignalStop {
 public:
  SignalStop() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGUSR2);  // ends the waiting thread
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::ignore = signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error value
    waiter_ = std::thread([this] { wait(); });
  }
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
  ~SignalStop() {
    done_ = true;
    pthread_kill(waiter_.native_handle(), SIGUSR2);
    waiter_.join();
  }
  std::stop_token token() { return source_.get_token(); }

 private:
  void wait() {
    for (int seen = 0; sigwait(&signals_, &seen) == 0;) {
      if (done_) return;
      if (seen == SIGUSR2) continue;
      if (!source_.request_stop()) std::_Exit(kStopped);
    }
  }

  sigset_t signals_{};
  std::stop_source source_;
  std::atomic<bool> done_ = false;
  std::thread waiter_;
};

int report(const headrace::Error& error) {
  fmt::print(stderr, "headrace: {}: {}\n", to_string(error.code()), error.to_string());
  return error.code() == headrace::Code::cancelled ? kStopped : 1;
}

int run(int argc, char** argv) {
  using namespace headrace::app;
  CLI::App root(
      "headrace: training data, from where it is kept to the accelerator that waits for it",
      "headrace");
  root.require_subcommand(1);
  root.set_help_all_flag("--help-all", "Help of every command");
  Invocation invocation;
  add_version(root, invocation);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return root.exit(error) == 0 ? 0 : kUsage;
  }
  SignalStop signals;
  auto code = invocation.run(signals.token());
  if (!code) return report(code.error());
  return signals.token().stop_requested() ? kStopped : *code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& bug) {  // memory, or a library that throws: never input
    std::ignore = std::fputs(bug.what(), stderr);
    return 1;
  }
}
