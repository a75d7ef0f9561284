// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/seek_memory.h"

#include <cstring>

namespace headrace {
namespace {

constexpr std::uint64_t kBlockBits = 24;  // 16 MiB
constexpr std::uint64_t kBlock = 1ULL << kBlockBits;
constexpr std::uint64_t kLengthBits = 20;
constexpr std::uint64_t kMaxLength = (1ULL << kLengthBits) - 1;
constexpr std::uint64_t kKept = 1ULL << 63U;  // came from an earlier job

}  // namespace

Result<std::unique_ptr<SeekMemory>> SeekMemory::make(std::uint64_t samples, std::uint64_t limit) {
  HEADRACE_TRY(auto slots, MappedFile::temporary());
  HEADRACE_TRY(slots.reserve(samples * sizeof(std::uint64_t)));
  return std::unique_ptr<SeekMemory>(new SeekMemory(std::move(slots), limit));
}

SeekMemory::SeekMemory(MappedFile slots, std::uint64_t limit)
    : limit_(limit), slots_(std::move(slots)) {
  blocks_.reserve(limit / kBlock + 1);
}

std::atomic_ref<std::uint64_t> SeekMemory::slot(std::uint64_t sample) const {
  auto* const slots = static_cast<std::uint64_t*>(static_cast<void*>(slots_.data()));
  return std::atomic_ref<std::uint64_t>(slots[sample]);
}

ByteSpan SeekMemory::get(std::uint64_t sample) const {
  const std::uint64_t where = slot(sample).load(std::memory_order_acquire);
  if (where == 0) return {};
  const std::uint64_t at = (where & ~kKept) >> kLengthBits;
  return {blocks_.data()[at >> kBlockBits].data() + at % kBlock, where & kMaxLength};
}

bool SeekMemory::is_recorded(std::uint64_t sample) const {
  const std::uint64_t where = slot(sample).load(std::memory_order_acquire);
  return where != 0 && (where & kKept) == 0;
}

void SeekMemory::put(std::uint64_t sample, ByteSpan index, Origin origin) {
  if (index.empty() || index.size() > kMaxLength || index.size() > kBlock) return;
  const MutexLock lock(mutex_);
  if (full_ || slot(sample).load(std::memory_order_relaxed) != 0) return;
  // An entry does not cross blocks.
  if (used_ % kBlock + index.size() > kBlock) used_ = (used_ / kBlock + 1) * kBlock;
  if (used_ + index.size() > limit_) {
    full_ = true;
    return;
  }
  if (used_ / kBlock >= blocks_.size()) {
    auto block = MappedFile::temporary();
    if (!block || !block->reserve(kBlock)) {
      full_ = true;  // no room on the volume: what is there stays useful
      return;
    }
    blocks_.push_back(*std::move(block));
  }
  std::memcpy(blocks_.back().data() + used_ % kBlock, index.data(), index.size());
  const std::uint64_t flag = origin == Origin::kept ? kKept : 0;
  slot(sample).store(flag | (used_ << kLengthBits) | index.size(), std::memory_order_release);
  used_ += index.size();
}

}  // namespace headrace
