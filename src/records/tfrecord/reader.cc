// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/reader.h"

#include <fmt/format.h>

#include <utility>

#include "headrace/records/tfrecord/frame.h"
#include "headrace/records/tfrecord/walk.h"

namespace headrace::tfrecord {

Error RecordReader::fail(std::uint64_t begin, std::uint64_t end, std::string why) {
  failure_ = Error(Code::corrupt, why).at(fmt::format("@ {}", begin));
  damage_ = {.begin = begin, .end = end, .why = std::move(why)};
  return *failure_;
}

Result<std::optional<Record>> RecordReader::next() {
  if (failure_) return *failure_;
  window_.drop_before(at_);
  auto found = step(window_, at_, true);
  if (!found) {
    failure_ = found.error();
    return *failure_;
  }
  if (found->kind == Step::Kind::end) return std::optional<Record>();
  if (found->kind == Step::Kind::damage) return fail(found->begin, found->end, found->why);
  const std::uint64_t length = found->end - found->begin;
  auto data = unframe(window_.slice(found->begin, length));
  if (!data) return fail(found->begin, found->end, data.error().cause());
  at_ = found->end;
  return std::optional(
      Record{.offset = found->begin, .frame_bytes = length, .data = *std::move(data)});
}

Damage RecordReader::recover() {
  failure_.reset();
  at_ = damage_.end;
  return std::exchange(damage_, {});
}

}  // namespace headrace::tfrecord
