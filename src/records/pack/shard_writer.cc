// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/pack/shard_writer.h"

#include <fmt/format.h>

#include <utility>

#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/image_record.h"

namespace headrace {
namespace {

constexpr std::size_t kFlushBytes = 4U << 20U;

/// A tab or line end in a name would make another line of it. The list is for people and other
/// programs; our own reader takes nothing from it.
std::string list_name(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == '\t' || c == '\n' || c == '\r') c = '?';
  return text;
}

}  // namespace

Result<std::unique_ptr<ShardWriter>> ShardWriter::open(Store& store, const std::string& stem,
                                                       const std::stop_token& stop) {
  std::unique_ptr<ShardWriter> writer(new ShardWriter);
  HEADRACE_TRY(writer->rec_, store.create(stem + ".rec", stop));
  HEADRACE_TRY(writer->idx_, store.create(stem + ".idx", stop));
  HEADRACE_TRY(writer->lst_, store.create(stem + ".lst", stop));
  return writer;
}

Result<void> ShardWriter::add(std::uint64_t id, std::span<const float> labels, ByteSpan picture,
                              std::string_view name) {
  idx_text_ += fmt::format("{}\t{}\n", id, offset_ + frames_.size());
  lst_text_ += fmt::format("{}\t", id);
  for (const float label : labels) lst_text_ += fmt::format("{}\t", label);
  lst_text_ += list_name(name) + '\n';
  HEADRACE_TRY(recordio::append_frame(recordio::image_header(labels, id), picture, frames_));
  return frames_.size() < kFlushBytes ? Result<void>() : flush();
}

Result<void> ShardWriter::flush() {
  HEADRACE_TRY(rec_->append(frames_));
  offset_ += frames_.size();
  frames_.clear();
  HEADRACE_TRY(idx_->append(as_byte_span(idx_text_)));
  idx_text_.clear();
  HEADRACE_TRY(lst_->append(as_byte_span(lst_text_)));
  lst_text_.clear();
  return {};
}

Result<std::uint64_t> ShardWriter::finish() {
  HEADRACE_TRY(flush());
  // The records first: a file without its index is scanned, an index without its file is nothing.
  HEADRACE_TRY(rec_->finish());
  HEADRACE_TRY(idx_->finish());
  HEADRACE_TRY(lst_->finish());
  return offset_;
}

}  // namespace headrace
