// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "headrace/base/write_all.h"

namespace headrace {
namespace {

constexpr const char* kRemedy = "set HEADRACE_TMPDIR to a folder with more room";

std::string scratch_dir() {
  for (const char* name : {"HEADRACE_TMPDIR", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  }
  return "/var/tmp";
}

}  // namespace

Error scratch_error(int error_number, std::string_view doing) {
  const Error error = errno_error(error_number, doing);
  return Error(error.code(), error.cause(), kRemedy).at(scratch_dir());
}

Result<UniqueFd> make_scratch_fd() {
  const std::string dir = scratch_dir();
  int fd = ::open(dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    std::string name = dir + "/headrace-XXXXXX";  // file systems without O_TMPFILE
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return scratch_error(errno, "create a scratch file");
  return UniqueFd(fd);
}

Result<ScratchFile> ScratchFile::make() {
  HEADRACE_TRY(auto fd, make_scratch_fd());
  return ScratchFile(std::move(fd));
}

Result<std::uint64_t> ScratchFile::append(ByteSpan bytes) {
  const std::uint64_t begin = end_.fetch_add(bytes.size());
  std::uint64_t at = begin;
  const int failed = write_all_at(fd_.get(), bytes, at);
  if (failed != 0) return scratch_error(failed, "write a scratch file");
  return begin;
}

Result<void> ScratchFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const auto got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read a scratch file");
    if (got == 0) return Error(Code::corrupt, "a scratch file is shorter than what was written");
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace headrace
