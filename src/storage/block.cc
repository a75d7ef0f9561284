// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "headrace/base/mutex.h"

namespace headrace {
namespace {

// Sanitizers see a use after the end only if memory really goes.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kRecycle = false;
#else
constexpr bool kRecycle = true;
#endif

struct Mapping {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

Mapping map(std::size_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(at), bytes};
}

void unmap(const Mapping& what) { ::munmap(what.at, what.bytes); }

/// The idle mappings, the oldest first.
class Idle {
 public:
  /// One of exactly this size, the last that came (its bytes may still be in the caches).
  Mapping take(std::size_t bytes) {
    const MutexLock lock(mutex_);
    for (std::size_t i = count_; i-- > 0;) {
      if (all_[i].bytes == bytes) return remove(i);
    }
    return {};
  }

  /// Makes room by giving up the oldest: sizes that are not wanted any more leave so.
  void put(const Mapping& what) {
    std::array<Mapping, kSlots> gone{};
    std::size_t leaving = 0;
    {
      const MutexLock lock(mutex_);
      while (count_ == kSlots || (count_ > 0 && bytes_ + what.bytes > kIdleMost)) {
        gone[leaving++] = remove(0);
      }
      all_[count_++] = what;
      bytes_ += what.bytes;
    }
    std::for_each_n(gone.begin(), leaving, unmap);
  }

  std::size_t bytes() {
    const MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  static constexpr std::size_t kSlots = kIdleMost / kLargeBlock;

  Mapping remove(std::size_t i) HEADRACE_REQUIRES(mutex_) {
    const Mapping found = all_[i];
    std::move(all_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              all_.begin() + static_cast<std::ptrdiff_t>(count_),
              all_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    bytes_ -= found.bytes;
    return found;
  }

  Mutex mutex_;
  std::array<Mapping, kSlots> all_ HEADRACE_GUARDED_BY(mutex_){};
  std::size_t count_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

/// Has no destructor to speak of: Bytes may end after everything static has.
Idle& idle_blocks() {
  static Idle all;
  return all;
}

struct GiveBack {
  std::size_t bytes = 0;
  void operator()(std::byte* at) const { idle_blocks().put({at, bytes}); }
};

}  // namespace

Buffer make_block(std::size_t size) {
  // Larger than a quarter of the room: rare, and would push all others out.
  if (!kRecycle || size < kLargeBlock || size > kIdleMost / 4) return Buffer(size);
  const std::size_t whole = (size + kLargeBlock - 1) / kLargeBlock * kLargeBlock;
  Mapping mapping = idle_blocks().take(whole);
  if (mapping.at == nullptr) mapping = map(whole);
  // If there is no memory for its counter, the deleter is called.
  return {std::shared_ptr<std::byte[]>(mapping.at, GiveBack{whole}), size};
}

Result<Buffer> allocate(std::uint64_t size) {
  try {
    return make_block(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return Error(Code::exhausted, fmt::format("no memory for {} bytes", size),
                 "read the object by smaller ranges");
  }
}

std::size_t idle_block_bytes() { return idle_blocks().bytes(); }

}  // namespace headrace
