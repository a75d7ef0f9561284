// SPDX-License-Identifier: Apache-2.0
// Any bytes as a TFRecord file, as a compressed one and as a tf.Example. What must hold: records
// and damage fill the file from end to end, the pieces in which it comes make no difference, the
// scan finds what the reader finds, what was read is written back the same; a record of a
// compressed file is the same by its seek table as in the stream.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "headrace/records/inflate.h"
#include "headrace/records/scan.h"
#include "headrace/records/testing/fuzz_pieces.h"
#include "headrace/records/tfrecord/compressed.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"
#include "headrace/records/tfrecord/reader.h"
#include "headrace/records/tfrecord/tfrecord.h"
#include "headrace/records/tfrecord/walk.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/ranges.h"

namespace {

using namespace headrace;
using namespace headrace::tfrecord;
using headrace::testing::PieceSource;
using headrace::testing::require;

struct Content {
  std::vector<Record> records;
  std::vector<Damage> damage;
};

Content read_all(ByteSource& source) {
  Content content;
  RecordReader reader(source);
  std::uint64_t at = 0;
  while (true) {
    auto record = reader.next();
    if (!record) {
      content.damage.push_back(reader.recover());
      require(content.damage.back().begin == at && content.damage.back().end > at);
      at = content.damage.back().end;
      continue;
    }
    if (!*record) break;
    require((*record)->offset == at);
    at += (*record)->frame_bytes;
    content.records.push_back(**record);
  }
  return content;
}

void check_plain(const Bytes& file) {
  const auto whole = make_memory_source(file);
  const Content content = read_all(*whole);
  std::uint64_t covered = 0;
  for (const Record& record : content.records) covered += record.frame_bytes;
  for (const Damage& damage : content.damage) covered += damage.end - damage.begin;
  require(covered == file.size());
  PieceSource pieces(file);
  const Content cut = read_all(pieces);
  require(cut.damage == content.damage && cut.records.size() == content.records.size());
  std::vector<std::byte> written;
  for (const Record& record : content.records)
    require(append_frame(record.data.span(), written).ok());
  const auto source = make_memory_source(Bytes::copy_of(ByteSpan(written)));
  const Content again = read_all(*source);
  require(again.damage.empty() && again.records.size() == content.records.size());

  MemoryStore store;
  require(put(store, "x", file.span(), {}).ok());
  const auto info = store.head("x", {});
  for (const std::uint64_t stretch : {file.size() / 12 * 4 + 4, std::size_t{1} << 20U}) {
    const auto frames = scan(store, *info, kFraming, {.threads = 1, .stretch_bytes = stretch}, {});
    require(frames.ok());
    // A record with damaged data is a frame of the index and damage of the reader.
    require(frames->frames().size() == content.records.size() + content.damage.size());
  }
}

void check_compressed(const Bytes& file, Compression compression) {
  MemoryStore store;
  require(put(store, "x", file.span(), {}).ok());
  const auto info = store.head("x", {});
  const auto shard = index_compressed(store, *info, compression, {});
  require(shard.ok() && compressed_from_bytes(to_bytes(*shard)).ok());
  std::vector<std::byte> stream;
  const auto source = make_memory_source(file);
  InflateSource inflated(*source, compression);
  while (true) {
    const auto piece = inflated.next();
    if (piece->empty()) break;
    stream.insert(stream.end(), piece->data(), piece->data() + piece->size());
  }
  std::vector<std::uint64_t> aligned((shard->table.size() + 7) / 8);
  std::copy(shard->table.begin(), shard->table.end(),
            std::as_writable_bytes(std::span(aligned)).begin());
  const SeekTable table(std::as_bytes(std::span(aligned)).first(shard->table.size()));
  for (const Frame& frame : shard->frames.frames()) {
    const std::uint64_t begin = frame.offset;
    const ByteRange range = table.range(begin, begin + frame.length);
    if (frame.damaged != 0) continue;
    const auto bytes =
        table.inflate(file.span().subspan(range.offset, range.length), begin, begin + frame.length);
    require(bytes.ok() &&
            std::ranges::equal(bytes->span(), ByteSpan(stream).subspan(begin, frame.length)));
  }
  std::ignore = compressed_from_bytes(file.span());
  std::ignore = SeekTable::check(file.span());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const Bytes file = Bytes::copy_of(std::as_bytes(std::span(data, size)));
  check_plain(file);
  for (const Compression compression : {Compression::gzip, Compression::zlib})
    check_compressed(file, compression);
  std::ignore = is_tfrecord(file.span());
  std::ignore = unframe(file);
  if (const auto example = parse_example(file.span())) {
    std::ignore = labels_of(*example, kLabelKey);
    std::ignore = image_of(*example, kImageKey);
  }
  return 0;
}
