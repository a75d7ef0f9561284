// SPDX-License-Identifier: Apache-2.0
/// \file How many requests to keep on the wire, found by trying: more while more comes of it.
///
/// Not thread-safe; pure: time is handed in. It doubles while the rate grows by a tenth (where each
/// request waits for the road and not for the others, in two round trips), then holds, and now and
/// then tries a quarter more or a fifth less. Throttling (503, 429) cuts it at once to 0.7, and it
/// climbs back to where it was in ten windows. A rise of the latency without gain lowers it too.
/// While too little is asked for, nothing is learned and nothing changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headrace/base/clock.h"

namespace headrace::s3 {

struct GovernorOptions {
  std::size_t begin = 32;
  std::size_t least = 4;
  std::size_t most = 256;
  Nanos window = std::chrono::milliseconds(250);  ///< at least so long is one rate measured
};

class Governor {
 public:
  explicit Governor(const GovernorOptions& options);

  std::size_t limit() const { return limit_; }

  struct Attempt {
    std::uint64_t bytes = 0;
    Nanos latency{0};        ///< of the whole attempt
    bool throttled = false;  ///< 503, 429
    bool saturated = false;  ///< as many were on the wire as the limit allows
  };
  /// An attempt has ended.
  void ended(Nanos now, const Attempt& attempt);

 private:
  enum class Phase { climb, hold, try_more, try_less, recover };
  struct Window {
    Nanos begin{0};
    double work = 0;
    double latency = 0;
    std::size_t count = 0;
    std::size_t throttled = 0;
    std::size_t saturated = 0;
  };

  bool clear_gain(Nanos now) const;
  void close(Nanos now);
  void cut();
  void set(double limit);
  void hold_at(double limit);

  const GovernorOptions options_;
  Phase phase_ = Phase::climb;
  std::size_t limit_;
  std::size_t good_ = 0;   // where to climb back to
  std::size_t held_ = 0;   // the limit that the tries start from
  double rate_ = 0;        // at held_, or of the last step of the climb
  double latency_ = 0;     // mean, at held_
  int quiet_ = 0;          // windows held
  bool more_next_ = true;  // which try comes next
  bool begun_ = false;
  Window window_;
};

}  // namespace headrace::s3
