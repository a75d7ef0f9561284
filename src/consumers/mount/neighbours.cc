// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/neighbours.h"

#include <algorithm>

namespace headrace::mount {
namespace {

constexpr unsigned kSure = 2;  // reads in order before it believes in them
/// Several readers that share one list of files are this many files apart.
constexpr std::uint64_t kApart = 16;

}  // namespace

Neighbours::Plan Neighbours::on_first_read(std::uint64_t place) {
  const bool on = begun_ && place > furthest_ && place - furthest_ <= kApart;
  const bool late = begun_ && place < furthest_ && furthest_ - place <= kApart;
  begun_ = true;
  if (late) return {};  // another reader's, a little behind
  furthest_ = place;
  if (!on) {
    in_order_ = ahead_ = 0;
    sent_ = place + 1;
    return {};
  }
  if (++in_order_ < kSure) return {};
  ahead_ = std::clamp(ahead_ * 2, 4U, kMost);
  const std::uint64_t begin = std::max(sent_, place + 1);
  const std::uint64_t end = std::max(begin, place + 1 + ahead_);
  sent_ = end;
  return {begin - place, end - begin};
}

}  // namespace headrace::mount
