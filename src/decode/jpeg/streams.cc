// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/streams.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/streams.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

/// One row between two symbols.
struct Stream {
  const std::uint8_t* at;
  const std::uint8_t* limit;
  std::uint64_t window;
  std::uint32_t count;
  std::uint32_t k;  ///< 0: a DC value comes next
  const FastEntry* table;
  std::int16_t* base;
  std::int16_t* out;
  const BlockPlan* block;
};

HWY_INLINE void refill_within(Stream& s) {
  refill(s.at, s.window, s.count);
  s.at = s.at < s.limit ? s.at : s.limit;  // a wrong index must not lead out of the buffer
}

/// One symbol. The end of a block is no branch: everything that it changes is selected.
HWY_INLINE void step(Stream& s, const StreamTables& tables, const BlockPlan* end, bool& failed) {
  FastEntry entry = s.table[s.window >> (64U - kLookBits)];
  if (HWY_UNLIKELY(advance_of(entry) == kSlow)) {
    const bool ac = s.k != 0;
    entry = long_code(s.window, *tables.tables[s.block->tables[ac ? 1 : 0]], ac);
    if (advance_of(entry) == 0) {
      failed = failed || s.block < end;  // behind the last block nothing means anything
      entry = kEndOfBlock << 8U;         // comes to an end, whatever the bits are
    }
  }
  const std::uint32_t k = s.k + advance_of(entry);
  s.out[kPlaces.offset[k]] = static_cast<std::int16_t>(value_of(s.window, entry));
  s.window <<= entry & 63U;
  s.count -= entry & 63U;
  // Arithmetic, since a compiler makes a branch of a choice: 1 at the end of a block, else 0.
  const std::uint32_t done = k >> 6U;
  s.block += done;
  s.table = tables.tables[s.block->tables[1 - done]]->fast_table();
  s.out = s.base + s.block->out;
  s.k = k & (done - 1);
}

/// Until the first of the streams has done its blocks. All in registers, as far as there are any.
template <std::size_t... kIndex>
HWY_INLINE void run_together(std::array<Stream, kStreams>& all, const StreamTables& tables,
                             const BlockPlan* end, bool& failed, std::index_sequence<kIndex...>) {
  Stream s[sizeof...(kIndex)] = {all[kIndex]...};
  do {
    (refill_within(s[kIndex]), ...);
    (step(s[kIndex], tables, end, failed), ...);
    (step(s[kIndex], tables, end, failed), ...);  // may be one symbol too many: the plan has room
  } while (((s[kIndex].block < end) && ...));
  ((all[kIndex] = s[kIndex]), ...);
}

bool DecodeStreams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan,
                   const StreamTables& tables) {
  const BlockPlan* const end = plan.data() + plan.size() - kSparePlans;
  std::array<Stream, kStreams> streams{};
  std::size_t active = 0;
  for (const StreamRow& row : rows) {
    Stream& s = streams[active++];
    s = {row.at,     row.limit,
         0,          0,
         0,          tables.tables[plan[0].tables[0]]->fast_table(),
         row.base,   row.base + plan[0].out,
         plan.data()};
    refill_within(s);
    s.window <<= row.skip;
    s.count -= row.skip;
  }
  bool failed = false;
  while (active > 0 && !failed) {
    switch (active) {
      case 4:
        run_together(streams, tables, end, failed, std::make_index_sequence<4>());
        break;
      case 3:
        run_together(streams, tables, end, failed, std::make_index_sequence<3>());
        break;
      case 2:
        run_together(streams, tables, end, failed, std::make_index_sequence<2>());
        break;
      default:
        run_together(streams, tables, end, failed, std::make_index_sequence<1>());
        break;
    }
    for (std::size_t i = 0; i < active;) {
      if (streams[i].block >= end) {
        streams[i] = streams[--active];
      } else {
        ++i;
      }
    }
  }
  return !failed;
}

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(DecodeStreams);

bool decode_streams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan,
                    const StreamTables& tables) {
  return HWY_DYNAMIC_DISPATCH(DecodeStreams)(rows, plan, tables);
}

}  // namespace headrace::jpeg
#endif
