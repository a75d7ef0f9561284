// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "headrace/base/digest.h"
#include "headrace/base/unique_fd.h"
#include "headrace/base/write_all.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "headrace-checkpoint ";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kDigestLine = 33;

std::string digest_line(std::string_view bytes) {
  return hash_bytes(as_byte_span(bytes)).to_hex() + "\n";
}

/// The text up to the next line end, and that taken off `rest`; nothing if there is none.
std::optional<std::string_view> take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

Result<UniqueFd> open_file(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!fd.valid()) return errno_error(errno, "open").at(path);
  return fd;
}

Result<void> write_synced(const std::string& path, std::string_view text) {
  HEADRACE_TRY(UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  ByteSpan bytes = as_byte_span(text);
  if (const int failed = write_all(fd.get(), bytes); failed != 0)
    return errno_error(failed, "write").at(path);
  if (::fsync(fd.get()) != 0) return errno_error(errno, "fsync").at(path);
  return std::move(fd).close().at(path);
}

}  // namespace

std::string Checkpoint::to_bytes() const {
  std::string bytes = fmt::format("{}{}\n{}\n", kMagic, kVersion, meta);
  bytes += archive;
  bytes += digest_line(bytes);
  return bytes;
}

Result<Checkpoint> Checkpoint::parse(std::string_view bytes) {
  std::string_view rest = bytes;
  const auto first = take_line(rest);
  if (!first || !first->starts_with(kMagic)) return Error(Code::corrupt, "this is no checkpoint");
  if (first->substr(kMagic.size()) != kVersion) {
    return Error(Code::invalid,
                 fmt::format("this is a checkpoint of version {}, not {}",
                             first->substr(kMagic.size()), kVersion),
                 "resume with the version of headrace that wrote it");
  }
  const auto meta = take_line(rest);
  if (!meta || rest.size() < kDigestLine) return Error(Code::corrupt, "the checkpoint is cut off");
  const auto held = bytes.substr(0, bytes.size() - kDigestLine);
  if (digest_line(held) != bytes.substr(held.size())) {
    return Error(Code::corrupt, "the checkpoint's digest is not that of its bytes",
                 "remove it to begin again, or bring back a copy");
  }
  return Checkpoint{std::string(*meta), std::string(rest.substr(0, rest.size() - kDigestLine))};
}

Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return errno_error(problem.value(), "create").at(folder.string());

  const std::string beside = path + ".tmp";
  const auto written = write_synced(beside, checkpoint.to_bytes());
  if (!written) {
    ::unlink(beside.c_str());
    return written;
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return errno_error(errno, "rename").at(path);
  HEADRACE_TRY(UniqueFd directory, open_file(folder.string(), O_RDONLY | O_DIRECTORY));
  if (::fsync(directory.get()) != 0) return errno_error(errno, "fsync").at(folder.string());
  return {};
}

Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return std::optional<Checkpoint>();
  if (!fd.valid()) return errno_error(errno, "open").at(path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_error(errno, "stat").at(path);
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read").at(path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  HEADRACE_TRY(auto checkpoint, Checkpoint::parse(bytes).at(path));
  return std::optional<Checkpoint>(std::move(checkpoint));
}

}  // namespace headrace
