// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/unique_fd.h"

#include <unistd.h>

#include <cerrno>

namespace headrace {

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> UniqueFd::close() && {
  if (const int fd = release(); fd >= 0 && ::close(fd) != 0) return errno_error(errno, "close");
  return {};
}

}  // namespace headrace
