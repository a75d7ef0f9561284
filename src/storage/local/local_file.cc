// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>
#include <utility>

#include "headrace/storage/block.h"

namespace headrace::local {

Result<UniqueFd> open_file(const std::string& path, struct stat& status) {
  // O_NONBLOCK: a FIFO of that name must not hold the thread.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    // A socket, or a FIFO that nobody writes to.
    if (errno == ENXIO) return Error(Code::invalid, "is not a regular file");
    return errno_error(errno, "open");
  }
  if (::fstat(fd.get(), &status) != 0) return errno_error(errno, "stat");
  if (S_ISDIR(status.st_mode)) return Error(Code::not_found, "is a folder, not an object");
  if (!S_ISREG(status.st_mode)) return Error(Code::invalid, "is not a regular file");
  return fd;
}

Error read_error(int error_number) {
  if (error_number != ENODATA) return errno_error(error_number, "read");
  return {Code::denied, "read: the file is listed here, but its data could not be loaded from S3",
          "FSx for Lustre: is the object still there, and may the file system's role read it and, "
          "for SSE-KMS, kms:Decrypt it?"};
}

Result<std::size_t> read_some(int fd, std::span<std::byte> into, std::uint64_t offset,
                              const std::stop_token& stop) {
  constexpr std::size_t kPiece = std::size_t{4} << 20U;  // about a millisecond of a fast disk
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    const auto rest = into.subspan(filled);
    const auto got = ::pread(fd, rest.data(), std::min(rest.size(), kPiece),
                             static_cast<off_t>(offset + filled));
    if (got == 0) break;
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      return read_error(errno);
    }
  }
  return filled;
}

Result<AlignedBuffer> allocate_aligned(std::size_t bytes) {
  HEADRACE_TRY(Buffer buffer, allocate(bytes + kDirectBlock));
  void* at = buffer.data();
  std::size_t room = buffer.size();
  std::ignore = std::align(kDirectBlock, bytes, at, room);  // there is a block to spare
  const auto aligned = buffer.span().subspan(buffer.size() - room, bytes);
  return AlignedBuffer{std::move(buffer), aligned};
}

bool set_direct(int fd, bool direct) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags != -1 && ::fcntl(fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

}  // namespace headrace::local
