// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/one_object_writer.h"

#include <utility>

namespace headrace {

Result<void> OneObjectWriter::create(const SetPlace& place, std::string key) {
  key_ = std::move(key);
  HEADRACE_TRY(object_, place.store.create(key_, place.stop));
  return {};
}

Result<void> OneObjectWriter::add(const OutSample& sample) {
  HEADRACE_TRY(append_sample(sample, pending_));
  ++samples_;
  return pending_.size() < kFlushBytes ? Result<void>() : flush(false);
}

Result<WrittenShard> OneObjectWriter::finish() {
  append_end(pending_);
  HEADRACE_TRY(flush(true));
  HEADRACE_TRY(object_->finish());
  return WrittenShard{.samples = samples_, .bytes = bytes_, .keys = {key_}, .summary = {}};
}

Result<void> OneObjectWriter::flush(bool last) {
  made_ += pending_.size();
  HEADRACE_TRY(encode(pending_, last));
  HEADRACE_TRY(object_->append(pending_));
  bytes_ += pending_.size();
  pending_.clear();
  return {};
}

}  // namespace headrace
