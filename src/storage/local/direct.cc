// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/direct.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <vector>

#include "headrace/storage/block.h"
#include "headrace/storage/local/local_file.h"

namespace headrace::local {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{64} << 10U;  // below it the cache costs less

}  // namespace

/// RWF_NOWAIT would tell too, but begins to read what is not there.
bool in_page_cache(int fd, const ByteRange& range) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = range.offset / page * page;
  const std::uint64_t length = range.offset + range.length - begin;
  void* const at = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(begin));
  if (at == MAP_FAILED) return true;
  std::vector<unsigned char> pages((length + page - 1) / page);
  const bool told = ::mincore(at, length, pages.data()) == 0;
  ::munmap(at, length);
  return !told || std::ranges::all_of(pages, [](unsigned char each) { return (each & 1U) != 0; });
}

void drop_from_page_cache(int fd, const ByteRange& range) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = range.offset / page * page;
  const std::uint64_t end = (range.offset + range.length + page - 1) / page * page;
  std::ignore = ::posix_fadvise(fd, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                                POSIX_FADV_DONTNEED);
}

std::uint64_t Reads::memory_of_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool Reads::pays(std::uint64_t length) {
  std::uint64_t left = left_.load(std::memory_order_relaxed);
  while (left != 0 && !left_.compare_exchange_weak(left, left - std::min(left, length),
                                                   std::memory_order_relaxed)) {
  }
  return left == 0 && length >= kLeast && possible();
}

Result<std::optional<Bytes>> Reads::past_cache(int fd, const ByteRange& range,
                                               const std::stop_token& stop) {
  constexpr std::uint64_t kPiece = std::uint64_t{4} << 20U;
  const std::uint64_t begin = range.offset / kDirectBlock * kDirectBlock;
  const std::uint64_t before = range.offset - begin;
  const std::uint64_t whole =
      (before + range.length + kDirectBlock - 1) / kDirectBlock * kDirectBlock;
  HEADRACE_TRY(auto memory, allocate_aligned(whole));
  if (!set_direct(fd, true)) {
    possible_ = false;
    return std::optional<Bytes>();
  }
  struct Restore {
    int fd;
    ~Restore() { std::ignore = set_direct(fd, false); }
  } const restore{fd};
  std::uint64_t filled = 0;
  while (filled < whole) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    const auto rest = memory.aligned.subspan(filled);
    const auto got = ::pread(fd, rest.data(), std::min<std::uint64_t>(rest.size(), kPiece),
                             static_cast<off_t>(begin + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EINVAL) {  // this file system wants other blocks
      possible_ = false;
      return std::optional<Bytes>();
    }
    if (got < 0) return read_error(errno);
    filled += static_cast<std::uint64_t>(got);
    if (got == 0 || filled % kDirectBlock != 0) break;  // the file ends here
  }
  const std::uint64_t length = std::min(range.length, filled - std::min(filled, before));
  const auto first = static_cast<std::size_t>(memory.aligned.data() - memory.buffer.data());
  const std::size_t size = memory.buffer.size();
  return std::optional<Bytes>(std::move(memory.buffer).freeze(size).slice(first + before, length));
}

Result<Bytes> Reads::read(int fd, const ByteRange& range, bool fresh, const std::stop_token& stop) {
  // What must be fresh may be damaged in the system's cache only: that is dropped, for those who
  // read after us, and not asked, since not all of it can be dropped.
  fresh = fresh && range.length != 0;
  if (fresh) drop_from_page_cache(fd, range);
  const bool past_it = (pays(range.length) && !in_page_cache(fd, range)) || fresh;
  if (past_it && possible()) {
    HEADRACE_TRY(auto past, past_cache(fd, range, stop));
    if (past) return *std::move(past);
  }
  HEADRACE_TRY(Buffer buffer, allocate(range.length));
  HEADRACE_TRY(const auto got, read_some(fd, buffer.span(), range.offset, stop));
  return std::move(buffer).freeze(got);
}

}  // namespace headrace::local
