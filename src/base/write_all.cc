// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace headrace {

int write_all(int fd, ByteSpan& bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int write_all_at(int fd, ByteSpan& bytes, std::uint64_t& offset) {
  while (!bytes.empty()) {
    const auto put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      offset += static_cast<std::uint64_t>(put);
    } else if (put == 0 || errno != EINTR) {
      return put == 0 ? EIO : errno;
    }
  }
  return 0;
}

}  // namespace headrace
