// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/streams.h"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/streams.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/places.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

/// What a window holds at least, and how many looks it is good for.
inline constexpr unsigned kWindowBits = 57;
inline constexpr unsigned kLooksAWindow = kWindowBits / kMostLookBits;

/// The bits from `position` on, counted from `base`; 57 at least are valid.
HWY_INLINE std::uint64_t window_at(const std::uint8_t* base, std::uint64_t position) {
  return load_big_endian(base + (position >> 3U)) << (position & 7U);
}

/// The part of a state (pair_tables.h) that is k, with its bias.
HWY_INLINE std::uint32_t place_of(std::uint64_t state) {
  return static_cast<std::uint32_t>(state >> 8U) & 0xffU;
}

/// Where only the lowest bits count, a rotation does for a shift: one instruction.
template <unsigned kBits>
HWY_INLINE std::uint64_t rotate(std::uint64_t x) {
  return x >> kBits | x << (64U - kBits);
}

HWY_INLINE void put(std::int16_t* block, std::uint32_t k, std::uint64_t value) {
  const auto low = static_cast<std::int16_t>(value);
  std::memcpy(reinterpret_cast<char*>(block) + kBytePlaces.offset[k], &low, sizeof low);
}

/// One symbol of any length.
struct OneSymbol {
  std::uint32_t bits = 0;  ///< that it takes with its value; 0: no such code
  std::uint32_t advance = 0;
  std::int32_t value = 0;
};

/// What an entry that leaves the usual way begins with. `window` holds 57 bits.
static HWY_NOINLINE OneSymbol one_symbol(Entry entry, std::uint64_t window, const HuffmanCode& code,
                                         bool ac) {
  Symbol symbol{static_cast<std::uint8_t>(entry >> 40U), static_cast<std::uint8_t>(entry >> 32U)};
  if ((entry >> 16U & 0xffU) != 0 || symbol.length == 0) {
    symbol = code.find(static_cast<std::uint32_t>(window >> 48U));
    if (symbol.length == 0) return {};
  }
  const std::uint32_t size = value_bits(symbol, ac);
  if (size == 0) return {symbol.length, advance(symbol, ac), 0};
  const auto bits = static_cast<std::uint32_t>(window << symbol.length >> (64U - size));
  return {symbol.length + size, advance(symbol, ac), extend(bits, size)};
}

static_assert(kLooksAWindow < kSparePlans, "a look ends one block at most");
static_assert(sizeof(LookPlan) == 32 && sizeof(BlockPlan) == 64, "advance() counts on it");

/// What every look changes: a value, never pointed to, so that it stays in registers.
struct Hot {
  std::uint64_t window = 0;
  std::uint64_t state = 0;  ///< pair_tables.h
  std::uintptr_t plan = 0;  ///< address of the LookPlan at hand
};

/// One row between two rounds of looks.
struct Stream {
  Hot hot;
  std::uint64_t position = 0;
  std::uint64_t limit = 0;
  const std::uint8_t* base = nullptr;
  std::uintptr_t out = 0;
  std::uintptr_t end = 0;  ///< of the plan
  bool failed = false;     ///< a code that does not exist, before the end
};

// Addresses here are moved by arithmetic, without a branch.
// NOLINTBEGIN(performance-no-int-to-ptr)
HWY_INLINE const LookPlan& plan_of(const Hot& hot) {
  return *reinterpret_cast<const LookPlan*>(hot.plan);
}

/// The plan of the next look: AC of this block, or, if that is done (its k is), of the next block.
/// Arithmetic, since a compiler makes a branch of a choice.
HWY_INLINE std::uintptr_t next_plan(std::uintptr_t plan, std::uint32_t k) {
  static_assert(kBlockDone >> 2U == sizeof(LookPlan));
  return (plan | sizeof(LookPlan)) + (k >> 2U & sizeof(LookPlan));
}

HWY_INLINE void refill(Hot& hot, Stream& s) {
  const std::uint64_t position = s.position + (hot.state & 0xffU);
  s.position = position < s.limit ? position : s.limit;  // a wrong index must not lead out
  hot.state &= ~std::uint64_t{0xff};
  hot.window = window_at(s.base, s.position);
}

/// What leaves the usual way: one symbol.
static HWY_NOINLINE Hot step_unusual(Hot hot, Stream& s) {
  const LookPlan& plan = plan_of(hot);
  const bool ac = (hot.plan & sizeof(LookPlan)) != 0;
  const Entry entry = plan.entries[hot.window >> (plan.shift & 63U)];
  hot.state &= plan.keep;
  refill(hot, s);
  OneSymbol one = one_symbol(entry, hot.window, *plan.code, ac);
  if (one.bits == 0) {
    s.failed = s.failed || hot.plan < s.end;  // behind the last block nothing means anything
    one.advance = 64;                         // comes to an end, whatever the bits are
  }
  std::uint32_t k = (ac ? place_of(hot.state) : kBias) + one.advance;
  if (k <= kBlockDone)
    put(reinterpret_cast<std::int16_t*>(s.out + plan.out), k,
        static_cast<std::uint64_t>(one.value));
  k = k < kBlockDone ? k : kBlockDone;
  hot.state = std::uint64_t{k} << 8U | one.bits;
  hot.window <<= one.bits;
  if (one.bits > kWindowBits - (kLooksAWindow - 1) * kMostLookBits) refill(hot, s);
  hot.plan = next_plan(hot.plan, k);
  return hot;
}

/// One look. The end of a block is no branch: everything that it changes is computed.
HWY_INLINE Hot step(const Hot hot, Stream& s) {
  const LookPlan& plan = plan_of(hot);
  const Entry entry = plan.entries[hot.window >> (plan.shift & 63U)];
  const std::uint64_t before = hot.state & plan.keep;
  const std::uint64_t first = before + rotate<16>(entry);
  if (HWY_UNLIKELY((first & (kBlockDone << 8U)) != 0)) {
    return step_unusual(hot, s);
  }
  const std::uint64_t both = before + entry;
  auto* const out = reinterpret_cast<std::int16_t*>(s.out + plan.out);
  put(out, place_of(first), rotate<32>(entry));
  put(out, place_of(both), rotate<48>(entry));
  return {hot.window << (entry & 63U), both, next_plan(hot.plan, place_of(both))};
}
// NOLINTEND(performance-no-int-to-ptr)

/// Until the first of the streams has done its blocks. All in registers, as far as there are any.
template <std::size_t... kIndex>
HWY_INLINE void run_together(std::array<Stream, kStreams>& all, std::uintptr_t end,
                             std::index_sequence<kIndex...>) {
  Hot hot[sizeof...(kIndex)] = {all[kIndex].hot...};
  do {
    (refill(hot[kIndex], all[kIndex]), ...);
    for (unsigned looks = 0; looks < kLooksAWindow; ++looks) {
      ((hot[kIndex] = step(hot[kIndex], all[kIndex])), ...);
    }
  } while (((hot[kIndex].plan < end) && ...));
  ((all[kIndex].hot = hot[kIndex]), ...);
}

bool DecodeStreams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan) {
  const auto begin = reinterpret_cast<std::uintptr_t>(plan.data());
  const std::uintptr_t end = begin + (plan.size() - kSparePlans) * sizeof(BlockPlan);
  std::array<Stream, kStreams> streams{};
  std::size_t active = 0;
  for (const StreamRow& row : rows) {
    streams[active++] = {{0, 0, begin},
                         row.position,
                         row.limit,
                         row.base,
                         reinterpret_cast<std::uintptr_t>(row.out),
                         end};
  }
  bool failed = false;
  while (active > 0) {
    switch (active) {
      case 4:
        run_together(streams, end, std::make_index_sequence<4>());
        break;
      case 3:
        run_together(streams, end, std::make_index_sequence<3>());
        break;
      case 2:
        run_together(streams, end, std::make_index_sequence<2>());
        break;
      default:
        run_together(streams, end, std::make_index_sequence<1>());
        break;
    }
    for (std::size_t i = 0; i < active;) {
      if (streams[i].hot.plan >= end) {
        failed = failed || streams[i].failed;
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

bool decode_streams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan) {
  return HWY_DYNAMIC_DISPATCH(DecodeStreams)(rows, plan);
}

}  // namespace headrace::jpeg
#endif
