// SPDX-License-Identifier: Apache-2.0
/// \file Both ends of a FIFO, so that every wait can be stopped and the two kinds of end are told
/// apart: the other side closed, or nobody ever came.
///
/// Not thread-safe: one end, one thread. SIGPIPE must be ignored or blocked by the caller's
/// thread (`BlockSigpipe`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace::pipe {

/// 0: wait for ever (until a stop).
using Seconds = std::chrono::duration<double>;

/// Called once a FIFO, by the thread that waits, when a wait for the other side has lasted `after`:
/// what it is for, and when it ends. May be empty.
struct WaitHook {
  std::function<void(const std::string& what)> tell;
  Seconds after{2};
};

/// Blocks SIGPIPE in this thread as long as it lives, and takes what came meanwhile.
class BlockSigpipe {
 public:
  BlockSigpipe();
  BlockSigpipe(const BlockSigpipe&) = delete;
  BlockSigpipe& operator=(const BlockSigpipe&) = delete;
  ~BlockSigpipe();

 private:
  bool was_blocked_ = false;
};

/// A descriptor that becomes readable when a stop is asked for, so that poll wakes.
class StopEvent {
 public:
  static Result<std::unique_ptr<StopEvent>> make(const std::stop_token& stop);
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent() = default;

  enum class Woken { ready, stopped, late };
  /// Waits for events on `fd` (none: -1), a stop, or the end of `timeout` (0: for ever).
  /// What poll saw on `fd` is added to `seen`.
  Woken wait(int fd, short events, Seconds timeout, short& seen) const;
  Woken sleep(Seconds time) const;

 private:
  struct Raise {
    int fd;
    void operator()() const;
  };
  StopEvent(UniqueFd event, const std::stop_token& stop);

  const UniqueFd event_;
  const std::stop_callback<Raise> callback_;
};

/// Makes `path` a FIFO; one that is there already is made anew, so that nothing is left in it.
///  * `invalid`  something else is there
Result<void> make_fifo(const std::string& path);

class FifoWriter {
 public:
  /// Waits until a reader has opened the FIFO.
  ///  * unavailable  nobody came in time      * cancelled
  static Result<FifoWriter> open(const std::string& path, const StopEvent& stop, Seconds timeout,
                                 const WaitHook& tell = {});

  ///  * true: all was written; false: the reader has closed its end, and no more can be written
  Result<bool> write(ByteSpan bytes);

 private:
  FifoWriter(std::string path, UniqueFd fd, const StopEvent& stop)
      : path_(std::move(path)), fd_(std::move(fd)), stop_(&stop) {}

  std::string path_;
  UniqueFd fd_;
  const StopEvent* stop_;
};

class FifoReader {
 public:
  struct Timeouts {
    Seconds appear{60};  ///< until the FIFO exists
    Seconds data{600};   ///< until the writer has opened it, and from one byte to the next
  };

  /// Waits for the FIFO to appear; does not wait for a writer.
  ///  * invalid      the channel is a folder (File mode), or `path` is something else
  ///  * not_found    it did not appear in time; the channels that are there are named
  ///  * unavailable  the same, of a later epoch
  static Result<FifoReader> open(const std::string& dir, const std::string& channel,
                                 std::uint64_t epoch, const Timeouts& timeouts,
                                 const StopEvent& stop, const WaitHook& tell = {});

  /// Fills all of `into` unless the stream ends: how much there was is the answer.
  ///  * unavailable  nothing came in time, although the writer has not closed
  Result<std::size_t> read(std::span<std::byte> into);

  const std::string& path() const { return path_; }

 private:
  FifoReader(std::string path, UniqueFd fd, const Timeouts& timeouts, const StopEvent& stop,
             WaitHook tell)
      : path_(std::move(path)),
        fd_(std::move(fd)),
        timeouts_(timeouts),
        stop_(&stop),
        tell_(std::move(tell)) {}

  StopEvent::Woken wait_for_bytes();
  Error late() const;

  std::string path_;
  UniqueFd fd_;
  Timeouts timeouts_;
  const StopEvent* stop_;
  WaitHook tell_;  ///< empty once it was told, or bytes came
  bool begun_ = false;
};

/// DIR/CHANNEL_EPOCH.
std::string fifo_path(const std::string& dir, const std::string& channel, std::uint64_t epoch);

/// The channels that have a FIFO or a folder in `dir`.
std::string known_channels(const std::string& dir);

}  // namespace headrace::pipe
