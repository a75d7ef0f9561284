// SPDX-License-Identifier: Apache-2.0
// Any bytes as an index, a shard and a sample. What must hold: a shard has as many entries as its
// index promises, each inside the file, and columns fill a sample exactly.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "headrace/records/mds/index.h"
#include "headrace/records/mds/sample.h"
#include "headrace/records/mds/shard.h"
#include "headrace/records/testing/fuzz_pieces.h"
#include "headrace/records/unpack/codec.h"
#include "headrace/storage/memory/memory_store.h"

namespace {

using namespace headrace;
using headrace::testing::require;

void check_shard(const Bytes& file, std::uint64_t samples) {
  MemoryStore store;
  require(put(store, "x", file.span(), {}).ok());
  const auto object = store.head("x", {});
  mds::Shard shard;
  shard.samples = samples;
  const auto frames = mds::find_samples(store, *object, shard, {});
  require(frames.ok() && frames->frames().size() == samples);
  for (const Frame& frame : frames->frames())
    require(frame.offset <= file.size() &&
            (frame.damaged || frame.offset + frame.length <= file.size()));
}

void check_sample(const Bytes& frame) {
  const std::vector<mds::Column> columns = {{.name = "a", .encoding = "bytes"},
                                            {.name = "b", .encoding = "float16", .size = 2},
                                            {.name = "c", .encoding = "str_int"}};
  const auto values = mds::split(columns, frame);
  if (!values) return;
  require(8 + (*values)[0].size() + (*values)[1].size() + (*values)[2].size() == frame.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    std::ignore = mds::numbers(columns[i], (*values)[i].span());
}

void check_codec(const Bytes& bytes, unsigned number) {
  constexpr std::uint64_t kMost = 1U << 22U;
  const auto source = make_memory_source(bytes);
  const auto inside = make_unpacking_source(*source, static_cast<Codec>(number % 6), kMost);
  std::uint64_t size = 0;
  while (true) {
    const auto piece = inside->next();
    if (!piece || piece->empty()) break;
    size += piece->size();
    require(size <= kMost);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 16384) return 0;
  const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(data, size)));
  const Bytes rest = bytes.slice(1, size - 1);
  if (const auto shards = mds::parse_index(rest.text())) {
    for (const mds::Shard& shard : *shards) {
      require(shard.raw.basename.find("..") != 0 && shard.raw.basename.front() != '/');
      std::ignore = mds::picture_column(shard.columns);
      std::ignore = mds::label_column(shard.columns);
      std::ignore = mds::split(shard.columns, rest);
    }
  }
  check_shard(rest, data[0] % 16U);
  check_sample(rest);
  check_codec(rest, data[0]);
  return 0;
}
