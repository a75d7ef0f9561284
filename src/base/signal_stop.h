// SPDX-License-Identifier: Apache-2.0
/// \file Ctrl-C as a stop: the first SIGINT or SIGTERM asks to stop, the second ends at once.
///
/// One a program, made by `main` before any other thread, which all inherit its signal mask.
/// Signals are taken by sigwait on a thread of its own, so no handler runs in the library.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>
#include <tuple>

namespace headrace {

/// Exit code of a program that was stopped.
inline constexpr int kStoppedExit = 130;

class SignalStop {
 public:
  /// Gives signals their usual meaning back, for a program that this one becomes by exec.
  static void undo() {
    sigset_t all{};
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::ignore = signal(SIGPIPE, SIG_DFL);
  }

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
      if (!source_.request_stop()) std::_Exit(kStoppedExit);
    }
  }

  sigset_t signals_{};
  std::stop_source source_;
  std::atomic<bool> done_ = false;
  std::thread waiter_;
};

}  // namespace headrace
