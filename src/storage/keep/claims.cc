// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/claims.h"

#include "headrace/base/random.h"

namespace headrace::keep {
namespace {

constexpr const char* kFile = "claims";

LockByte byte_of(const RangeId& range) {
  const std::uint64_t hash =
      mix_key(range.object.low ^ range.object.high, mix_key(range.offset, range.length));
  return LockByte{hash & kLastLockByte};
}

}  // namespace

Result<void> Claims::open(Disk& disk, const std::string& store) {
  presence_ = LockByte{hash_bytes(as_byte_span(store)).low & kLastLockByte};
  HEADRACE_TRY(file_, disk.open(kFile, OpenMode::share));
  HEADRACE_TRY(file_->try_lock(presence_, LockKind::shared));
  is_open_.store(true, std::memory_order_release);
  return {};
}

bool Claims::take(const RangeId& range) {
  if (!is_open()) return true;
  const auto taken = file_->try_lock(byte_of(range), LockKind::exclusive);
  return !taken || *taken;
}

void Claims::drop(const RangeId& range) {
  if (is_open()) std::ignore = file_->unlock(byte_of(range)).ok();
}

bool Claims::is_alone() {
  if (!is_open()) return true;
  const auto others = file_->is_locked(presence_);
  return !others || !*others;
}

}  // namespace headrace::keep
