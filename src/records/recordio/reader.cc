// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/reader.h"

#include <fmt/format.h>

#include <utility>

namespace headrace::recordio {

Result<std::optional<Record>> RecordReader::next() {
  if (failure_) return *failure_;
  window_.drop_before(at_);
  auto found = step(window_, at_, true);
  if (!found) {
    failure_ = found.error();
    return *failure_;
  }
  if (found->kind == Step::Kind::end) return std::optional<Record>();
  if (found->kind == Step::Kind::damage) {
    damage_ = {.begin = found->begin, .end = found->end, .why = found->why};
    failure_ = Error(Code::corrupt, found->why).at(fmt::format("@ {}", found->begin));
    return *failure_;
  }
  const std::uint64_t length = found->end - found->begin;
  auto payload = unframe(window_.slice(found->begin, length), parts_);
  if (!payload) return std::move(payload).error();  // cannot be: step has seen the same headers
  at_ = found->end;
  return std::optional(Record{.offset = found->begin,
                              .frame_bytes = length,
                              .payload = *std::move(payload),
                              .unpadded = found->unpadded});
}

Damage RecordReader::recover() {
  failure_.reset();
  at_ = damage_.end;
  return std::exchange(damage_, {});
}

}  // namespace headrace::recordio
