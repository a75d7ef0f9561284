// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/compressed.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/records/byte_source.h"
#include "headrace/records/inflate.h"
#include "headrace/records/tfrecord/walk.h"

namespace headrace::tfrecord {

Result<SeekTables> SeekTables::make() {
  SeekTables tables;
  HEADRACE_TRY(tables.tables_, MappedArray<std::byte>::make());
  return tables;
}

Result<void> SeekTables::add(const std::string& key, ByteSpan table) {
  constexpr std::size_t kAlignment = 8;
  const Place place{.at = tables_.size(), .bytes = table.size()};
  HEADRACE_TRY(tables_.append(table));
  const std::vector<std::byte> padding((kAlignment - table.size() % kAlignment) % kAlignment);
  HEADRACE_TRY(tables_.append(padding));
  at_[key] = place;
  return {};
}

std::optional<SeekTable> SeekTables::find(const std::string& key) const {
  const auto found = at_.find(key);
  if (found == at_.end()) return std::nullopt;
  return SeekTable(tables_.span().subspan(found->second.at, found->second.bytes));
}

Result<CompressedShard> index_compressed(Store& store, const ObjectInfo& shard,
                                         Compression compression, const std::stop_token& stop,
                                         std::atomic<std::uint64_t>* count, bool fresh) {
  HEADRACE_TRY(auto frames, ShardFrames::make());
  SeekTableBuilder builder;
  const auto file = make_store_source(store, shard, {.count = count, .fresh = fresh}, stop);
  InflateSource stream(*file, compression, &builder);
  Window window(stream);
  std::uint64_t at = 0;
  std::optional<Damage> last;
  while (true) {
    window.drop_before(at);
    HEADRACE_TRY(const auto found, step(window, at, false));
    if (found.kind == Step::Kind::end) break;
    if (last) HEADRACE_TRY(frames.add(*std::exchange(last, std::nullopt)));
    if (found.kind == Step::Kind::frame) {
      HEADRACE_TRY(frames.add(found.begin, found.end));
    } else {
      last = Damage{.begin = found.begin, .end = found.end, .why = found.why};
    }
    at = found.end;
  }
  if (!stream.failure().empty()) {
    // The record that is cut short is so because of the stream.
    if (!last || last->end != stream.out())
      last = Damage{.begin = stream.out(), .end = stream.out(), .why = {}};
    last->why = stream.failure();
  }
  if (last) HEADRACE_TRY(frames.add(*std::move(last)));
  frames.source = "scan";
  return CompressedShard{.frames = std::move(frames), .table = builder.to_bytes(compression)};
}

std::vector<std::byte> to_bytes(const CompressedShard& shard) {
  const auto frames = shard.frames.to_bytes();
  const std::uint64_t size = frames.size();
  const auto head = std::as_bytes(std::span(&size, 1));
  std::vector<std::byte> out(head.begin(), head.end());
  out.insert(out.end(), frames.begin(), frames.end());
  out.insert(out.end(), shard.table.begin(), shard.table.end());
  return out;
}

Result<CompressedShard> compressed_from_bytes(ByteSpan bytes) {
  const Error bad(Code::corrupt, "not an index");
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return bad;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (size > bytes.size()) return bad;
  HEADRACE_TRY(auto frames, ShardFrames::from_bytes(bytes.first(size)));
  const ByteSpan table = bytes.subspan(size);
  HEADRACE_TRY(SeekTable::check(table));
  return CompressedShard{.frames = std::move(frames), .table = {table.begin(), table.end()}};
}

}  // namespace headrace::tfrecord
