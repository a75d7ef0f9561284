// SPDX-License-Identifier: Apache-2.0
/// \file Waiting that Python's Ctrl-C can end: the work runs on a thread of its own, and the
/// caller looks at Python's signals while it waits without the Global Interpreter Lock.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>

namespace headrace::python {

/// Returns when the future is ready; `look` is called now and then, with the lock. Throws
/// KeyboardInterrupt, or what another signal handler or `look` raised; the work then goes on.
/// REQUIRES: the lock is held
template <class T, class Look>
void wait_for_signal_or(std::future<T>& future, const Look& look) {
  constexpr std::chrono::milliseconds kLook{50};
  for (;;) {
    {
      const nanobind::gil_scoped_release others_run;
      if (future.wait_for(kLook) == std::future_status::ready) return;
    }
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    look();
  }
}

}  // namespace headrace::python
