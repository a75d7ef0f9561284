// SPDX-License-Identifier: Apache-2.0
// Any bytes as a RecordIO file. What must hold: records and damage fill it from end to end, the
// pieces in which it comes make no difference, the scan finds what the reader finds, and what was
// read is written back, as dmlc writes, so that it reads the same as dmlc reads.
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/reader.h"
#include "headrace/records/recordio/walk.h"
#include "headrace/records/scan.h"
#include "headrace/records/testing/fuzz_pieces.h"
#include "headrace/storage/memory/memory_store.h"

namespace {

using namespace headrace;
using namespace headrace::recordio;
using headrace::testing::PieceSource;
using headrace::testing::require;

struct Content {
  std::vector<Record> records;
  std::vector<Damage> damage;
};

Content read_all(ByteSource& source, std::uint64_t size, Parts parts = Parts::automatic) {
  Content content;
  RecordReader reader(source, parts);
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
  require(at == size);
  return content;
}

void check_written_back(const Content& content) {
  std::vector<std::byte> file;
  for (const Record& record : content.records)
    require(append_frame({}, record.payload.span(), file).ok());
  const auto source = make_memory_source(Bytes::copy_of(ByteSpan(file)));
  const Content again = read_all(*source, file.size(), Parts::dmlc);
  require(again.damage.empty() && again.records.size() == content.records.size());
  for (std::size_t i = 0; i < again.records.size(); ++i)
    require(again.records[i].payload.text() == content.records[i].payload.text());
}

void check_scan(const Bytes& file, const Content& content, const Bytes& idx) {
  MemoryStore store;
  require(put(store, "x.rec", file.span(), {}).ok());
  require(put(store, "x.idx", idx.span(), {}).ok());
  const auto info = store.head("x.rec", {});
  for (const std::uint64_t stretch : {file.size() / 12 * 4 + 4, std::size_t{1} << 20U}) {
    const auto frames = scan(store, *info, kFraming, {.threads = 1, .stretch_bytes = stretch}, {});
    require(frames.ok());
    require(frames->frames().size() == content.records.size() + content.damage.size());
    require(frames->damage() == content.damage);
    require(ShardFrames::from_bytes(frames->to_bytes()).ok());
  }
  require(read_idx(store, *info, {}).ok());
  std::ignore = ShardFrames::from_bytes(file.span());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const Bytes file = Bytes::copy_of(std::as_bytes(std::span(data, size)));
  const auto whole = make_memory_source(file);
  const Content content = read_all(*whole, size);
  PieceSource pieces(file);
  const Content cut = read_all(pieces, size);
  require(cut.damage == content.damage && cut.records.size() == content.records.size());
  for (const Record& record : content.records) std::ignore = parse_image_record(record.payload);
  for (const Parts parts : {Parts::automatic, Parts::dmlc, Parts::sagemaker})
    std::ignore = unframe(file, parts);
  check_written_back(content);
  check_scan(file, content, file.slice(size / 2, size - size / 2));
  return 0;
}
