// SPDX-License-Identifier: Apache-2.0
/// \file A file descriptor with one owner. Not thread-safe.
#pragma once

#include <utility>

#include "headrace/base/result.h"

namespace headrace {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

  /// Closes and says whether the system complained, which a destructor cannot.
  Result<void> close() &&;

 private:
  int fd_ = -1;
};

}  // namespace headrace
