// SPDX-License-Identifier: Apache-2.0
/// \file The progress line of a set that is listed, or has no index and is read through for one. It
/// is shown from a thread of its own, on a terminal only, while that goes on.
///
/// For `main`: it prints. `active` may be called from any thread.
///
///     ScanLine line;
///     options.open.scanning = &line.progress();
///     HEADRACE_TRY(const auto job, Job::open(options, stop));
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>

#include "headrace/base/clock.h"
#include "headrace/base/human.h"
#include "headrace/records/scan_progress.h"

namespace headrace {

/// "no index yet: scanned 1.2 GB of 10 GB, 812 MB/s, 0:11 left".
inline std::string scan_text(std::uint64_t bytes, std::uint64_t total, double seconds) {
  const auto all = static_cast<double>(total);
  const double done = std::min(static_cast<double>(bytes), all);
  const double rate = seconds > 0 ? done / seconds : 0;
  std::string text =
      fmt::format("no index yet: scanned {} of {}", human_bytes(done), human_bytes(all));
  if (rate > 0)
    text += fmt::format(", {}/s, {} left", human_bytes(rate), human_time((all - done) / rate));
  return text;
}

class ScanLine {
 public:
  ScanLine() {
    if (::isatty(STDERR_FILENO) == 1)
      thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
  }
  ScanLine(const ScanLine&) = delete;
  ScanLine& operator=(const ScanLine&) = delete;
  ~ScanLine() = default;

  ScanProgress& progress() { return progress_; }
  /// Whether the line is this one's: nothing else should be written over it.
  bool active() const { return active_.load(); }

 private:
  void show(const std::stop_token& stop) {
    constexpr Nanos kInterval = std::chrono::milliseconds(100);
    Clock& clock = real_clock();
    std::optional<Nanos> begin;
    while (clock.sleep_for(kInterval, stop)) {
      const std::uint64_t bytes = progress_.bytes.load();
      const std::uint64_t total = progress_.total.load();
      const std::uint64_t listed = progress_.listed.load();
      const bool scanning = bytes != 0 && bytes < total;
      if (!scanning && listed == 0) {
        clear();
        continue;
      }
      active_.store(true);
      if (scanning) {
        if (!begin) begin = clock.now();
        const double seconds = std::chrono::duration<double>(clock.now() - *begin).count();
        fmt::print(stderr, "\r\x1b[K{}", scan_text(bytes, total, seconds));
      } else {
        fmt::print(stderr, "\r\x1b[Klisting: {} objects so far", listed);
      }
      std::ignore = std::fflush(stderr);
    }
    clear();
  }

  void clear() {
    if (active_.exchange(false)) fmt::print(stderr, "\r\x1b[K");
  }

  ScanProgress progress_;
  std::atomic<bool> active_{false};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace headrace
