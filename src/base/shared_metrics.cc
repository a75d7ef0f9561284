// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/shared_metrics.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <type_traits>

namespace headrace {
namespace {

// Zero bytes are zero counts, and atomics without locks work between processes.
static_assert(std::is_standard_layout_v<Metrics> && std::is_trivially_destructible_v<Metrics>);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Result<void*> map(int fd) {
  void* memory = ::mmap(nullptr, sizeof(Metrics), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno_error(errno, "map shared counters");
  return memory;
}

void unmap(Metrics* metrics) { ::munmap(metrics, sizeof(Metrics)); }

}  // namespace

Result<SharedMetrics> SharedMetrics::make() {
  UniqueFd fd(::memfd_create("headrace-counts", MFD_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), sizeof(Metrics)) != 0) {
    return errno_error(errno, "make shared counters");
  }
  HEADRACE_TRY(void* const memory, map(fd.get()));
  return SharedMetrics(std::move(fd), std::shared_ptr<Metrics>(new (memory) Metrics, unmap));
}

Result<std::shared_ptr<Metrics>> SharedMetrics::attach(int fd) {
  const UniqueFd owned(fd);
  struct stat status {};
  if (::fstat(owned.get(), &status) != 0 || status.st_size != sizeof(Metrics)) {
    return Error(Code::invalid, "these are not the counters of this version of headrace");
  }
  HEADRACE_TRY(void* const memory, map(owned.get()));
  return std::shared_ptr<Metrics>(static_cast<Metrics*>(memory), unmap);
}

}  // namespace headrace
