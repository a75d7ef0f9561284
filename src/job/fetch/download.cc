// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/fetch/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "headrace/base/byte_budget.h"
#include "headrace/base/mutex.h"
#include "headrace/base/unique_fd.h"
#include "headrace/base/write_all.h"
#include "headrace/storage/object_time.h"

namespace headrace::fetching {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask, as any program

/// One object on its way; goes with its file if it did not become whole. The file is made when the
/// first bytes are there: by whoever has them, so that nobody waits for a folder's lock to ask for
/// more, and what waits for a server holds no descriptor.
struct Part {
  Part(std::uint64_t number, std::string file, std::uint64_t count)
      : ordinal(number), path(std::move(file)), pieces_left(count) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (made_ && !whole) ::unlink(path.c_str());
  }

  Result<int> fd(Mutex& names) {
    const MutexLock lock(mutex_);
    if (!made_) {
      const MutexLock one_at_a_time(names);
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
      fd_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
      if (!fd_.valid()) return errno_error(errno, "open").at(path);
      made_ = true;
    }
    return fd_.get();
  }
  /// REQUIRES: nobody writes any more.
  Result<void> close() {
    const MutexLock lock(mutex_);
    return std::move(fd_).close();
  }

  const std::uint64_t ordinal;
  const std::string path;
  std::atomic<std::uint64_t> pieces_left;
  bool whole = false;

 private:
  Mutex mutex_;
  UniqueFd fd_ HEADRACE_GUARDED_BY(mutex_);
  bool made_ HEADRACE_GUARDED_BY(mutex_) = false;
};

struct Piece {
  std::shared_ptr<Part> part;
  ByteRange range;
};

class Workers {
 public:
  explicit Workers(const Download& what) : what_(what), budget_(what.options.budget_bytes) {}

  Result<void> run(const std::stop_token& stop) {
    const std::stop_callback forward(stop, [this] { stop_.request_stop(); });
    {
      std::vector<std::jthread> threads;
      const std::uint64_t pieces =
          what_.missing.size() + what_.bytes_total / what_.options.piece_bytes;
      const auto wanted = std::min<std::uint64_t>(what_.options.workers, pieces);
      for (std::uint64_t i = 0; i < std::max<std::uint64_t>(1, wanted); ++i) {
        threads.emplace_back([this] { work(); });
      }
    }
    const MutexLock lock(mutex_);
    if (error_) return Error(*error_);
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped while fetching");
    return {};
  }

 private:
  void work() {
    while (!stop_.stop_requested()) {
      const auto piece = next();
      if (!piece) return;
      const auto done = fetch_piece(*piece);
      if (!done) fail(done.error());
    }
  }

  void fail(const Error& error) {
    {
      const MutexLock lock(mutex_);
      if (!error_) error_ = error;
    }
    stop_.request_stop();
  }

  std::optional<Piece> next() {
    const MutexLock lock(mutex_);
    if (!part_) {
      if (next_ == what_.missing.size()) return std::nullopt;
      part_ = begin(what_.missing[next_++]);
      offset_ = 0;
    }
    const std::uint64_t size = what_.objects.bytes(part_->ordinal);
    Piece piece{part_, {offset_, std::min(what_.options.piece_bytes, size - offset_)}};
    offset_ += piece.range.length;
    if (offset_ == size) part_.reset();
    return piece;
  }

  std::shared_ptr<Part> begin(std::uint64_t ordinal) {
    const std::uint64_t size = what_.objects.bytes(ordinal);
    const std::uint64_t piece = what_.options.piece_bytes;
    return std::make_shared<Part>(ordinal, what_.journal.part_path(ordinal),
                                  std::max<std::uint64_t>(1, (size + piece - 1) / piece));
  }

  Result<void> fetch_piece(const Piece& piece) {
    Part& part = *piece.part;
    if (piece.range.length != 0) {
      const auto room = budget_.reserve(piece.range.length, stop_.get_token());
      auto read = read_now(what_.source, {.key = what_.objects.key(part.ordinal),
                                          .range = piece.range,
                                          .pin = what_.objects.pin(part.ordinal),
                                          .stop = stop_.get_token()});
      if (!read && read.error().code() == Code::cancelled) return std::move(read).error();
      if (!read) {
        return std::move(read).error().advise(
            "run fetch again: whole files stay and are not "
            "fetched twice");
      }
      HEADRACE_TRY(const int fd, part.fd(names_));
      ByteSpan bytes = read->bytes.span();
      std::uint64_t offset = piece.range.offset;
      if (const int failed = write_all_at(fd, bytes, offset); failed != 0)
        return errno_error(failed, "write").at(part.path);
      const std::uint64_t done = bytes_done_ += piece.range.length;
      if (what_.options.progress) what_.options.progress(done, what_.bytes_total);
    }
    return --part.pieces_left == 0 ? finish(part) : Result<void>();
  }

  Result<void> finish(Part& part) {
    const std::string path = what_.folder + "/" + what_.objects.key(part.ordinal);
    const Pin pin = what_.objects.pin(part.ordinal);
    HEADRACE_TRY(const int fd, part.fd(names_));  // of an empty object, made here
    if (pin.modified_ns != 0) {
      const timespec time = timespec_of(pin.modified_ns);
      const timespec times[2] = {time, time};
      if (::futimens(fd, times) != 0) return errno_error(errno, "set time").at(path);
    }
    HEADRACE_TRY(part.close().at(path));
    HEADRACE_TRY(give_name(part, path));
    part.whole = true;
    return what_.journal.add(identity(what_.objects.key(part.ordinal), pin),
                             what_.objects.bytes(part.ordinal), stop_.get_token());
  }

  Result<void> give_name(const Part& part, const std::string& path) {
    const MutexLock one_at_a_time(names_);
    if (::rename(part.path.c_str(), path.c_str()) == 0) return {};
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (error) return errno_error(error.value(), "make the folder").at(path);
    if (::rename(part.path.c_str(), path.c_str()) != 0)
      return errno_error(errno, "rename").at(path);
    return {};
  }

  const Download& what_;
  ByteBudget budget_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  /// Held while a file is made or gets its name. All are made in one folder, which the kernel lets
  /// one thread change at a time; those that wait there spin, here they sleep.
  Mutex names_;
  Mutex mutex_;
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Part> part_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t offset_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<void> download(const Download& what, const std::stop_token& stop) {
  return Workers(what).run(stop);
}

}  // namespace headrace::fetching
