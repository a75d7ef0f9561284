// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/hedge.h"

#include <algorithm>
#include <bit>

namespace headrace::s3 {
namespace {

constexpr unsigned kFirstOctave = 16;    // 2^16 ns
constexpr std::uint32_t kMemory = 8192;  // then all counts are halved
constexpr std::uint32_t kRefresh = 64;
constexpr double kShare = 0.01;
constexpr Nanos kLeast = std::chrono::milliseconds(10);  // below it a hedge gains nothing

}  // namespace

std::size_t HedgePolicy::step_of(Nanos time) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  const auto octave = static_cast<unsigned>(std::bit_width(value));
  if (octave <= kFirstOctave) return 0;
  const auto eighth = static_cast<std::size_t>((value >> (octave - 4)) & 7U);
  return std::min(std::size_t{octave - kFirstOctave - 1} * 8 + eighth, kSteps - 1);
}

Nanos HedgePolicy::end_of(std::size_t step) {
  const std::uint64_t begin = std::uint64_t{1} << (kFirstOctave + step / 8);
  return Nanos(static_cast<std::int64_t>(begin + begin / 8 * (step % 8 + 1)));
}

void HedgePolicy::observed(Nanos time) {
  allowance_ = std::min(allowance_ + kShare, options_.most_saved);
  ++counts_[step_of(time)];
  ++total_;
  if (total_ >= kMemory) {
    total_ = 0;
    for (auto& count : counts_) total_ += count /= 2;
  }
  if (++fresh_ >= std::min(kRefresh, options_.enough) && total_ >= options_.enough) refresh();
}

void HedgePolicy::refresh() {
  fresh_ = 0;
  std::uint32_t beyond = 0;
  std::size_t step = kSteps;
  while (step > 0 && (beyond + counts_[step - 1]) * 100 <= total_) beyond += counts_[--step];
  patience_ = std::max(end_of(step == 0 ? 0 : step - 1), kLeast);
}

bool HedgePolicy::take() {
  if (allowance_ < 1) return false;
  allowance_ -= 1;
  return true;
}

}  // namespace headrace::s3
