// SPDX-License-Identifier: Apache-2.0
/// \file Frames of a data set in canonical order, many reads at a time: for tools that go through
/// a whole set, or through a stretch of it. Training goes through the loader.
///
/// Records that lie side by side are read together. What looks damaged is read once more, past
/// every cache, before it is called so: memory and page caches flip bits, too.
///
/// Not thread-safe: one reader, one thread; several readers may share a set and a store.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "headrace/base/notices.h"
#include "headrace/records/dataset.h"
#include "headrace/records/frames.h"
#include "headrace/storage/store.h"

namespace headrace {

struct ReadAheadOptions {
  unsigned requests = 64;                    ///< in flight
  std::uint64_t budget_bytes = 256U << 20U;  ///< of frames asked for and not yet taken
};

/// Which samples are read.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::function<bool(SampleId)> takes;  ///< empty: all of them
};

class ReadAhead {
 public:
  struct Answer {
    SampleId id{};
    Result<Bytes> frame;
  };

  /// Both must outlive the reader.
  ReadAhead(Store& store, const Dataset& set, const ReadAheadOptions& options,
            const std::stop_token& stop)
      : ReadAhead(store, set, {.begin = 0, .end = set.size(), .takes = {}}, options, stop) {}
  ReadAhead(Store& store, const Dataset& set, Stretch stretch, const ReadAheadOptions& options,
            std::stop_token stop)
      : store_(frames_of(set, store)),
        set_(set),
        stretch_(std::move(stretch)),
        options_(options),
        stop_(std::move(stop)),
        next_(stretch_.begin) {}

  /// The next frame, or why it could not be read; nothing after the last.
  std::optional<Answer> next();

 private:
  /// One read, of one frame or of several.
  struct Run {
    std::shared_future<Result<ReadResult>> answer;
    std::uint64_t offset = 0;  ///< in the object
  };
  struct Asked {
    SampleId id{};
    ByteRange range;
    std::shared_ptr<Run> run;
    bool alone = true;
  };
  void ask();
  bool ask_run();
  std::optional<SampleId> skip_to_next();

  Store& store_;
  const Dataset& set_;
  const Stretch stretch_;
  const ReadAheadOptions options_;
  const std::stop_token stop_;
  std::deque<Asked> asked_;
  std::uint64_t asked_bytes_ = 0;
  std::size_t runs_ = 0;  ///< whose frames were not all given
  std::uint64_t next_;    ///< to ask for
};

/// One frame, now; `fresh`: past every cache.
Result<Bytes> read_frame(Store& store, const Dataset& set, SampleId id, bool fresh,
                         const std::stop_token& stop);

/// What `look` makes of a frame; if that is `corrupt`, or the frame could not be read because it
/// is or because it `changed`, of the frame as it is when it is read once more. A second look that
/// finds nothing wrong leaves the notice "read-again".
template <class T>
Result<T> look_twice(Store& store, const Dataset& set, SampleId id, const Result<Bytes>& frame,
                     Notices& notices, const std::stop_token& stop,
                     const std::function<Result<T>(const Bytes&)>& look);

// Implementation details follow.

void note_second_look(Notices& notices, const Dataset& set, SampleId id, const Error& first);

template <class T>
Result<T> look_twice(Store& store, const Dataset& set, SampleId id, const Result<Bytes>& frame,
                     Notices& notices, const std::stop_token& stop,
                     const std::function<Result<T>(const Bytes&)>& look) {
  Result<T> first = frame ? look(*frame) : Result<T>(frame.error());
  if (first) return first;
  const Code code = first.error().code();
  if (code != Code::corrupt && code != Code::changed) return first;
  const auto again = read_frame(store, set, id, true, stop);
  if (!again) return again.error();
  Result<T> second = look(*again);
  if (second) note_second_look(notices, set, id, first.error());
  return second;
}

}  // namespace headrace
