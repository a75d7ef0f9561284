// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/byte_source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

namespace headrace {
namespace {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : size_(bytes.size()), bytes_(std::move(bytes)) {}
  Result<Bytes> next() override { return std::exchange(bytes_, {}); }
  std::optional<std::uint64_t> end() const override { return size_; }

 private:
  const std::uint64_t size_;
  Bytes bytes_;
};

class StoreSource final : public ByteSource {
 public:
  StoreSource(Store& store, ObjectInfo object, const StoreSourceOptions& options,
              std::stop_token stop)
      : store_(store),
        object_(std::move(object)),
        options_(options),
        stop_(std::move(stop)),
        asked_(options.begin) {}

  Result<Bytes> next() override {
    ask();
    if (answers_.empty()) return Bytes();
    auto answer = answers_.front().get();
    answers_.pop_front();
    HEADRACE_TRY(auto read, std::move(answer));
    if (options_.count != nullptr) *options_.count += read.bytes.size();
    ask();
    return std::move(read.bytes);
  }
  std::optional<std::uint64_t> end() const override { return object_.size; }

 private:
  void ask() {
    while (asked_ < object_.size && (answers_.empty() || (answers_.size() <= options_.ahead &&
                                                          asked_ < options_.ahead_end))) {
      const auto length = std::min(options_.piece_bytes, object_.size - asked_);
      auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
      answers_.push_back(promise->get_future());
      store_.read({.key = object_.key,
                   .range = {asked_, length},
                   .pin = object_.pin,
                   .fresh = options_.fresh,
                   .stop = stop_},
                  [promise](Result<ReadResult> result) { promise->set_value(std::move(result)); });
      asked_ += length;
    }
  }

  Store& store_;
  const ObjectInfo object_;
  const StoreSourceOptions options_;
  const std::stop_token stop_;
  std::deque<std::future<Result<ReadResult>>> answers_;
  std::uint64_t asked_;
};

class FdSource final : public ByteSource {
 public:
  FdSource(UniqueFd fd, std::string name, std::stop_token stop, std::size_t piece_bytes)
      : fd_(std::move(fd)),
        name_(std::move(name)),
        stop_(std::move(stop)),
        piece_bytes_(piece_bytes) {}

  Result<Bytes> next() override {
    constexpr int kStopCheckMs = 100;
    Buffer piece(piece_bytes_);
    std::size_t filled = 0;
    while (filled < piece.size()) {
      if (stop_.stop_requested()) return Error(Code::cancelled, "stopped while reading").at(name_);
      pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      const int polled = ::poll(&ready, 1, filled == 0 ? kStopCheckMs : 0);
      if (polled < 0 && errno != EINTR) return errno_error(errno, "poll").at(name_);
      if (polled <= 0) {
        if (filled != 0) break;  // what is there is worth more than a full piece
        continue;
      }
      const auto got = ::read(fd_.get(), piece.data() + filled, piece.size() - filled);
      if (got < 0) {
        if (errno == EINTR || errno == EAGAIN) continue;
        return errno_error(errno, "read").at(name_);
      }
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    if (filled == 0) return Bytes();
    return std::move(piece).freeze(filled);
  }

 private:
  const UniqueFd fd_;
  const std::string name_;
  const std::stop_token stop_;
  const std::size_t piece_bytes_;
};

}  // namespace

std::unique_ptr<ByteSource> make_memory_source(Bytes bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

std::unique_ptr<ByteSource> make_store_source(Store& store, const ObjectInfo& object,
                                              const StoreSourceOptions& options,
                                              const std::stop_token& stop) {
  return std::make_unique<StoreSource>(store, object, options, stop);
}

std::unique_ptr<ByteSource> make_fd_source(UniqueFd fd, std::string name,
                                           const std::stop_token& stop, std::size_t piece_bytes) {
  return std::make_unique<FdSource>(std::move(fd), std::move(name), stop, piece_bytes);
}

Result<bool> Window::cover(std::uint64_t end) {
  while (end_ < end && !ended_) {
    HEADRACE_TRY(auto piece, source_.next());
    ended_ = piece.empty();
    end_ += piece.size();
    if (!ended_) pieces_.push_back(std::move(piece));
    trim();
  }
  return end_ >= end;
}

std::optional<std::uint64_t> Window::source_end() const {
  return ended_ ? std::optional(end_) : source_.end();
}

std::uint32_t Window::word(std::uint64_t offset) const {
  std::uint32_t value = 0;
  copy(offset, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void Window::copy(std::uint64_t offset, std::span<std::byte> into) const {
  std::uint64_t skip = offset - begin_ + first_;
  for (const Bytes& piece : pieces_) {
    if (into.empty()) return;
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    const auto count = std::min<std::uint64_t>(into.size(), piece.size() - skip);
    std::memcpy(into.data(), piece.data() + skip, count);
    into = into.subspan(count);
    skip = 0;
  }
}

Bytes Window::slice(std::uint64_t offset, std::uint64_t length) const {
  if (length == 0) return {};
  std::uint64_t skip = offset - begin_ + first_;
  for (const Bytes& piece : pieces_) {
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    if (piece.size() - skip >= length) return piece.slice(skip, length);
    break;
  }
  Buffer whole(length);
  copy(offset, whole.span());
  return std::move(whole).freeze(length);
}

void Window::drop_before(std::uint64_t offset) {
  if (offset <= begin_) return;
  first_ += offset - begin_;
  begin_ = offset;
  trim();
}

void Window::trim() {
  while (!pieces_.empty() && first_ >= pieces_.front().size()) {
    first_ -= pieces_.front().size();
    pieces_.pop_front();
  }
}

}  // namespace headrace
