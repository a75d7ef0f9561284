// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/segment_writer.h"

#include "headrace/storage/keep/segment.h"

namespace headrace::keep {

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(Disk& disk, const SegmentName& name,
                                                             const std::string& store) {
  const auto header = encode(SegmentHeader{
      .salt = name.salt, .sequence = name.sequence, .capacity = name.capacity, .store = store});
  HEADRACE_TRY(auto log, disk.open(new_name(name), OpenMode::create));
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(disk, name, std::move(log)));
  const auto prepare = [&]() -> Result<void> {
    for (const auto& [byte, kind] : {std::pair(LockByte::owner, LockKind::exclusive),
                                     std::pair(LockByte::use, LockKind::shared)}) {
      HEADRACE_TRY(const bool locked, writer->log_->try_lock(byte, kind));
      if (!locked) return Error(Code::unavailable, "someone tidies up").at(new_name(name));
    }
    HEADRACE_TRY(writer->log_->write_at(0, header));
    HEADRACE_TRY(disk.rename(new_name(name), log_name(name)));
    HEADRACE_TRY(writer->data_, disk.open(data_name(name), OpenMode::create));
    return {};
  };
  if (auto prepared = prepare(); !prepared) {
    writer->undo();
    return std::move(prepared).error();
  }
  writer->log_end_ = header.size();
  return writer;
}

Result<void> SegmentWriter::append(ByteSpan data, Entry& entry) {
  HEADRACE_TRY(data_->write_at(data_end_, data));
  entry.data_offset = static_cast<std::uint32_t>(data_end_);
  entry.length = static_cast<std::uint32_t>(data.size());
  data_end_ += data.size();
  const std::size_t before = entries_.size();
  append_entry(entry, name_.salt, log_end_ - before, entries_);
  log_end_ += entries_.size() - before;
  return {};
}

Result<void> SegmentWriter::commit() {
  if (entries_.empty()) return {};
  HEADRACE_TRY(log_->write_at(log_end_ - entries_.size(), entries_));
  entries_.clear();
  return {};
}

void SegmentWriter::undo() {
  for (const auto& file : {data_name(name_), log_name(name_), new_name(name_)})
    std::ignore = disk_.remove(file).ok();
}

}  // namespace headrace::keep
