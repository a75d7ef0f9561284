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

}  // namespace headrace
