// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "headrace/base/unique_fd.h"

namespace headrace {

Result<std::string> read_small_file(const std::string& path, std::uint64_t limit) {
  constexpr std::size_t kPiece = 64U << 10U;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno_error(errno, "open").at(path);
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(fd.get(), text.data() + before, kPiece);
    if (got < 0 && errno != EINTR) return errno_error(errno, "read").at(path);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > limit) {
      return Error(Code::invalid, fmt::format("the file has more than {} bytes, too many for what "
                                              "it should be",
                                              limit))
          .at(path);
    }
    if (got == 0) return text;
  }
}

}  // namespace headrace
