// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/read_ahead.h"

#include <algorithm>
#include <bit>

namespace headrace::mount {
namespace {

/// Reads of one reader that the kernel has sent side by side lie this far apart at most.
constexpr std::uint64_t kDisorder = std::uint64_t{2} << 20U;

}  // namespace

std::uint64_t request_end(std::uint64_t begin, std::uint64_t end, std::uint64_t step) {
  return step == 0 ? end : std::min(end, (begin / step + 1) * step);
}

ReadAhead::Run* ReadAhead::find(std::uint64_t offset) {
  Run* nearest = nullptr;
  std::uint64_t least = 0;
  for (Run& run : runs_) {
    if (run.used == 0) continue;
    // A jump has gone on only if the next read begins where it ended.
    const std::uint64_t slack = run.window == 0 ? 0 : std::max(run.window / 2, kDisorder);
    const std::uint64_t apart = offset > run.next ? offset - run.next : run.next - offset;
    if (apart > slack || (nearest != nullptr && apart >= least)) continue;
    nearest = &run;
    least = apart;
  }
  return nearest;
}

ReadAhead::Run& ReadAhead::oldest() {
  return *std::min_element(runs_.begin(), runs_.end(),
                           [](const Run& a, const Run& b) { return a.used < b.used; });
}

std::size_t ReadAhead::runs() const {
  return static_cast<std::size_t>(std::count_if(
      runs_.begin(), runs_.end(), [](const Run& run) { return run.used != 0 && run.window != 0; }));
}

ReadAhead::Plan ReadAhead::on_read(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + std::min(length, size_ - offset);
  if (size_ <= options_.whole) return {0, size_, size_, 0};
  Run* run = find(offset);
  if (run == nullptr) {
    run = &oldest();
    *run = {.next = offset, .window = offset == 0 ? options_.first : 0, .grown = offset};
  } else if (run->window == 0) {
    run->window = options_.first;
    run->grown = run->next;
  }
  run->used = ++turn_;
  run->next = std::max(run->next, end);
  if (run->window == 0) return {offset, end, end, 0};
  // Each time the reader has used half of what was fetched for it, twice as much.
  while (run->window < options_.window && run->next - run->grown >= run->window / 2) {
    run->grown += run->window / 2;
    run->window = std::min(run->window * 2, options_.window);
  }
  const std::uint64_t step = std::bit_floor(std::min(run->window, options_.part));
  return {offset, end, std::max(end, std::min(size_, run->next + run->window)), step};
}

}  // namespace headrace::mount
