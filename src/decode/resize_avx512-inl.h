// SPDX-License-Identifier: Apache-2.0
/// \file resize_kernels for AVX-512 with VBMI and VNNI. Included once for each target.
//
// A weight of 23 bits and sign is three signed bytes, w = (a << 16) + (b << 8) + c, so that one
// dot-product instruction adds four samples times four weights in each of 16 lanes. The exact sum
// comes from three of them: ((a · x) << 8 + b · x) << 8 + c · x, modulo 2^32, which it never
// leaves.
#include <immintrin.h>

#include <algorithm>

#include "headrace/decode/resize_kernels.h"

// Highway 1.0.3 names a neighbouring extension (avxvnni) for this target, so the attributes are our
// own; that the processor has them is what it asks at run time.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vnni")
namespace headrace {
namespace HWY_NAMESPACE {

enum Form : std::uint32_t {
  kNarrow,  // the samples of 16 outputs lie within 64 bytes: one byte permutation each block
  kMedium,  // within 128 bytes: a permutation of two registers
  kWide,    // one output at a time, 64 samples at a time
};

constexpr std::size_t kLanes = 16;
constexpr std::size_t kRegister = 64;
constexpr std::int32_t kHalf = 1 << (ResizeTable::kBits - 1);

struct Split {
  std::uint8_t a, b, c;
};

inline Split SplitWeight(std::int32_t weight) {
  const auto c = static_cast<std::int8_t>(weight);
  const std::int32_t rest = (weight - c) >> 8;
  const auto b = static_cast<std::int8_t>(rest);
  const std::int32_t a = (rest - b) >> 8;
  return {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), static_cast<std::uint8_t>(c)};
}

/// The first and one past the last sample that outputs begin .. end need.
struct Span {
  std::uint32_t begin, end;
};

inline Span SpanOf(const ResizeTable& table, std::size_t begin, std::size_t end) {
  Span span{table.first[begin], table.first[begin] + table.count[begin]};
  for (std::size_t i = begin + 1; i < end; ++i) {
    const std::uint32_t first = table.first[i];
    const std::uint32_t last = first + table.count[i];
    span.begin = first < span.begin ? first : span.begin;
    span.end = last > span.end ? last : span.end;
  }
  return span;
}

/// Memory of a group of 16 outputs: for each block of 4 taps the indices, then a, b and c.
inline void PlanGroups(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t outputs = table.outputs();
  const std::size_t blocks = table.taps / 4;
  std::uint8_t* memory = plan.memory.data();
  for (std::size_t group = 0; group * kLanes < outputs; ++group) {
    for (std::size_t block = 0; block < blocks; ++block, memory += 4 * kRegister) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t output = group * kLanes + lane;
        const bool real = output < outputs;
        for (std::size_t tap = 0; tap < 4; ++tap) {
          const std::size_t at = lane * 4 + tap;
          const std::size_t sample = block * 4 + tap;
          const auto split = SplitWeight(real ? table.weights_of(output)[sample] : std::int32_t{0});
          // Beyond the last tap the weight is 0, and the index may be anything.
          memory[at] =
              static_cast<std::uint8_t>(real ? table.first[output] - plan.base[group] + sample : 0);
          memory[kRegister + at] = split.a;
          memory[2 * kRegister + at] = split.b;
          memory[3 * kRegister + at] = split.c;
        }
      }
    }
  }
}

/// Memory of an output: for each block of 64 taps a, b and c.
inline void PlanWide(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t blocks = (table.taps + kRegister - 1) / kRegister;
  std::uint8_t* memory = plan.memory.data();
  for (std::size_t output = 0; output < table.outputs(); ++output) {
    for (std::size_t block = 0; block < blocks; ++block, memory += 3 * kRegister) {
      for (std::size_t tap = 0; tap < kRegister; ++tap) {
        const std::size_t sample = block * kRegister + tap;
        const auto split = SplitWeight(sample < table.taps ? table.weights_of(output)[sample] : 0);
        memory[tap] = split.a;
        memory[kRegister + tap] = split.b;
        memory[2 * kRegister + tap] = split.c;
      }
    }
  }
}

inline void PlanAcross(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t outputs = table.outputs();
  std::uint32_t widest = 0;
  for (std::size_t begin = 0; begin < outputs; begin += kLanes) {
    const auto span = SpanOf(table, begin, begin + kLanes < outputs ? begin + kLanes : outputs);
    plan.base[begin / kLanes] = span.begin;
    widest = span.end - span.begin > widest ? span.end - span.begin : widest;
  }
  // Many blocks of the group forms cost more than one output at a time.
  plan.form = table.taps > 32 || widest > 2 * kRegister ? kWide
              : widest > kRegister                      ? kMedium
                                                        : kNarrow;
  if (plan.form == kWide) return PlanWide(table, plan);
  PlanGroups(table, plan);
}

HWY_INLINE __m512i Load(const void* at) { return _mm512_loadu_si512(at); }

HWY_INLINE __m512i Value(__m512i sums) { return _mm512_srai_epi32(sums, ResizeTable::kBits); }

/// 16 sums of 32 bits to 16 clipped bytes.
HWY_INLINE __m128i Bytes(__m512i sums) {
  return _mm512_cvtusepi32_epi8(_mm512_max_epi32(Value(sums), _mm512_setzero_si512()));
}

HWY_INLINE __m512i Shift8(__m512i sums) { return _mm512_slli_epi32(sums, 8); }

/// Sums by the a, b and c parts of the weights. (Named, not arrays: -O2 leaves loops over arrays of
/// registers as loops over memory.)
struct Parts {
  __m512i a, b, c;
};

HWY_INLINE Parts NoParts() {
  const __m512i zero = _mm512_setzero_si512();
  return {zero, zero, zero};
}

HWY_INLINE void Add(Parts& sums, __m512i samples, const Parts& weights) {
  sums.a = _mm512_dpbusd_epi32(sums.a, samples, weights.a);
  sums.b = _mm512_dpbusd_epi32(sums.b, samples, weights.b);
  sums.c = _mm512_dpbusd_epi32(sums.c, samples, weights.c);
}

HWY_INLINE __m512i Total(const Parts& sums) {
  const __m512i high = Shift8(_mm512_add_epi32(Shift8(sums.a), sums.b));
  return _mm512_add_epi32(high, sums.c);
}

/// The whole sum where there is one block: the shifts happen on the way.
HWY_INLINE __m512i OneBlock(__m512i samples, const Parts& weights) {
  const __m512i start = _mm512_set1_epi32(kHalf >> 16);
  const __m512i high = Shift8(_mm512_dpbusd_epi32(start, samples, weights.a));
  const __m512i middle = Shift8(_mm512_dpbusd_epi32(high, samples, weights.b));
  return _mm512_dpbusd_epi32(middle, samples, weights.c);
}

HWY_INLINE Parts LoadParts(const std::uint8_t* at) {
  return {Load(at), Load(at + kRegister), Load(at + 2 * kRegister)};
}

template <Form form>
HWY_INLINE __m512i Pick(const std::uint8_t* at, __m512i index) {
  if (form == kNarrow) return _mm512_permutexvar_epi8(index, Load(at));
  return _mm512_permutex2var_epi8(Load(at), index, Load(at + kRegister));
}

HWY_INLINE void Store16(__m512i sums, std::uint8_t* out) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), Bytes(sums));
}

HWY_INLINE void RunOneBlock(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const std::size_t outputs = plan.table->outputs();
  const std::uint8_t* memory = plan.memory.data();
  const std::uint32_t* base = plan.base.data();
  const auto [red, green, blue] = row;
  const auto [red_out, green_out, blue_out] = out;
  for (std::size_t i = 0; i < outputs; i += kLanes, ++base, memory += 4 * kRegister) {
    const __m512i index = Load(memory);
    const Parts weights = LoadParts(memory + kRegister);
    Store16(OneBlock(Pick<kNarrow>(red + *base, index), weights), red_out + i);
    Store16(OneBlock(Pick<kNarrow>(green + *base, index), weights), green_out + i);
    Store16(OneBlock(Pick<kNarrow>(blue + *base, index), weights), blue_out + i);
  }
}

template <Form form>
HWY_INLINE void RunGroups(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const std::size_t outputs = plan.table->outputs();
  const std::uint32_t blocks = plan.table->taps / 4;
  const std::uint8_t* memory = plan.memory.data();
  const std::uint32_t* base = plan.base.data();
  const __m512i half = _mm512_set1_epi32(kHalf);
  const auto [red, green, blue] = row;
  const auto [red_out, green_out, blue_out] = out;
  for (std::size_t i = 0; i < outputs; i += kLanes, ++base) {
    Parts r = NoParts();
    Parts g = NoParts();
    Parts b = NoParts();
    for (std::uint32_t block = 0; block < blocks; ++block, memory += 4 * kRegister) {
      const __m512i index = Load(memory);
      const Parts weights = LoadParts(memory + kRegister);
      Add(r, Pick<form>(red + *base, index), weights);
      Add(g, Pick<form>(green + *base, index), weights);
      Add(b, Pick<form>(blue + *base, index), weights);
    }
    Store16(_mm512_add_epi32(Total(r), half), red_out + i);
    Store16(_mm512_add_epi32(Total(g), half), green_out + i);
    Store16(_mm512_add_epi32(Total(b), half), blue_out + i);
  }
}

inline void RunWide(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const ResizeTable& table = *plan.table;
  const std::size_t outputs = table.outputs();
  const std::size_t blocks = (table.taps + kRegister - 1) / kRegister;
  const std::uint8_t* memory = plan.memory.data();
  for (std::size_t i = 0; i < outputs; ++i, memory += blocks * 3 * kRegister) {
    // Only what is there may be read: the row's slack is less than many blocks.
    const std::size_t used = (table.count[i] + kRegister - 1) / kRegister;
    for (std::size_t p = 0; p < 3; ++p) {
      const std::uint8_t* at = row[p] + table.first[i];
      Parts sums = NoParts();
      for (std::size_t block = 0; block < used; ++block) {
        Add(sums, Load(at + block * kRegister), LoadParts(memory + block * 3 * kRegister));
      }
      const std::int32_t sum = _mm512_reduce_add_epi32(Total(sums)) + kHalf;
      const std::int32_t value = sum >> ResizeTable::kBits;
      out[p][i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

inline void RunAcross(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  if (plan.form == kWide) return RunWide(plan, row, out);
  if (plan.form == kMedium) return RunGroups<kMedium>(plan, row, out);
  if (plan.table->taps == 4) return RunOneBlock(plan, row, out);
  RunGroups<kNarrow>(plan, row, out);
}

/// Four weights in every lane.
HWY_INLINE Parts SplitFour(const std::int32_t* weights) {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  for (unsigned tap = 0; tap < 4; ++tap) {
    const Split split = SplitWeight(weights[tap]);
    a |= std::uint32_t{split.a} << (8 * tap);
    b |= std::uint32_t{split.b} << (8 * tap);
    c |= std::uint32_t{split.c} << (8 * tap);
  }
  return {_mm512_set1_epi32(static_cast<int>(a)), _mm512_set1_epi32(static_cast<int>(b)),
          _mm512_set1_epi32(static_cast<int>(c))};
}

/// 64 columns of four rows, the four samples of a column side by side. The order of the columns is
/// that of unpacking, which packing undoes.
struct Columns {
  __m512i q0, q1, q2, q3;
};

HWY_INLINE Columns Transpose(const std::uint8_t* const* rows, std::size_t x) {
  const __m512i r0 = Load(rows[0] + x);
  const __m512i r1 = Load(rows[1] + x);
  const __m512i r2 = Load(rows[2] + x);
  const __m512i r3 = Load(rows[3] + x);
  const __m512i low01 = _mm512_unpacklo_epi8(r0, r1);
  const __m512i high01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i low23 = _mm512_unpacklo_epi8(r2, r3);
  const __m512i high23 = _mm512_unpackhi_epi8(r2, r3);
  return {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
          _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
}

HWY_INLINE __m512i Pack(const Columns& sums) {
  return _mm512_packus_epi16(_mm512_packs_epi32(Value(sums.q0), Value(sums.q1)),
                             _mm512_packs_epi32(Value(sums.q2), Value(sums.q3)));
}

HWY_INLINE void RunDownOneBlock(const std::uint8_t* const* rows, const std::int32_t* weights,
                                std::uint32_t width, std::uint8_t* out) {
  const Parts four = SplitFour(weights);
  const std::uint8_t* const from[4] = {rows[0], rows[1], rows[2], rows[3]};
  for (std::size_t x = 0; x < width; x += kRegister) {
    const Columns columns = Transpose(from, x);
    const Columns sums{OneBlock(columns.q0, four), OneBlock(columns.q1, four),
                       OneBlock(columns.q2, four), OneBlock(columns.q3, four)};
    _mm512_storeu_si512(out + x, Pack(sums));
  }
}

inline void RunDown(const std::uint8_t* const* rows, const std::int32_t* weights,
                    std::uint32_t taps, std::uint32_t width, std::uint8_t* out) {
  const auto nothing = [](std::int32_t weight) { return weight == 0; };
  while (taps > 4 && std::all_of(weights + taps - 4, weights + taps, nothing)) taps -= 4;
  if (taps == 4) return RunDownOneBlock(rows, weights, width, out);
  const __m512i half = _mm512_set1_epi32(kHalf);
  constexpr std::uint32_t kMost = 4;  // more are rare, and split anew for each 64 columns
  Parts ready[kMost];
  for (std::uint32_t i = 0; i < kMost && 4 * i < taps; ++i) ready[i] = SplitFour(weights + 4 * i);
  for (std::size_t x = 0; x < width; x += kRegister) {
    Parts p0 = NoParts();
    Parts p1 = NoParts();
    Parts p2 = NoParts();
    Parts p3 = NoParts();
    for (std::uint32_t tap = 0; tap < taps; tap += 4) {
      const Parts four = tap < 4 * kMost ? ready[tap / 4] : SplitFour(weights + tap);
      const Columns columns = Transpose(rows + tap, x);
      Add(p0, columns.q0, four);
      Add(p1, columns.q1, four);
      Add(p2, columns.q2, four);
      Add(p3, columns.q3, four);
    }
    const Columns sums{_mm512_add_epi32(Total(p0), half), _mm512_add_epi32(Total(p1), half),
                       _mm512_add_epi32(Total(p2), half), _mm512_add_epi32(Total(p3), half)};
    _mm512_storeu_si512(out + x, Pack(sums));
  }
}

HWY_INLINE __mmask64 FirstBytes(std::size_t size) {
  return size >= 64 ? ~__mmask64{0} : (__mmask64{1} << size) - 1;
}

/// 64 bytes from `at` on, of which only those below `size` are read.
HWY_INLINE __m512i LoadSome(const std::uint8_t* bytes, std::size_t at, std::size_t size) {
  if (size <= at) return _mm512_setzero_si512();
  return _mm512_maskz_loadu_epi8(FirstBytes(size - at), bytes + at);
}

/// Where byte 3 i + c lies in three registers: indices into the first two and into the third, and
/// which bytes come from the third.
struct SplitTables {
  alignas(64) std::uint8_t two[3][kRegister];
  alignas(64) std::uint8_t three[3][kRegister];
  std::uint64_t late[3];
};

constexpr SplitTables MakeSplitTables() {
  SplitTables tables{};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < kRegister; ++i) {
      const std::size_t at = 3 * i + c;
      tables.two[c][i] = static_cast<std::uint8_t>(at & 127U);
      tables.three[c][i] = static_cast<std::uint8_t>(at & 63U);
      if (at >= 2 * kRegister) tables.late[c] |= std::uint64_t{1} << i;
    }
  }
  return tables;
}

constexpr SplitTables kSplit = MakeSplitTables();

template <int c>
HWY_INLINE void SplitOne(__m512i v0, __m512i v1, __m512i v2, std::uint8_t* out) {
  const __m512i early = _mm512_permutex2var_epi8(v0, Load(kSplit.two[c]), v1);
  _mm512_storeu_si512(
      out, _mm512_mask_permutexvar_epi8(early, kSplit.late[c], Load(kSplit.three[c]), v2));
}

inline void SplitRgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out) {
  for (std::size_t x = 0; x < width; x += kRegister, rgb += 3 * kRegister) {
    const std::size_t left = std::size_t{3} * (width - x);
    const __m512i v0 = LoadSome(rgb, 0, left);
    const __m512i v1 = LoadSome(rgb, kRegister, left);
    const __m512i v2 = LoadSome(rgb, 2 * kRegister, left);
    SplitOne<0>(v0, v1, v2, out[0] + x);
    SplitOne<1>(v0, v1, v2, out[1] + x);
    SplitOne<2>(v0, v1, v2, out[2] + x);
  }
}

/// Byte `at` of three registers is byte at / 3 of plane at % 3.
struct JoinTables {
  alignas(64) std::uint8_t index[3][kRegister];
  std::uint64_t blue[3];
};

constexpr JoinTables MakeJoinTables() {
  JoinTables tables{};
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t i = 0; i < kRegister; ++i) {
      const std::size_t at = part * kRegister + i;
      tables.index[part][i] = static_cast<std::uint8_t>(at / 3 + (at % 3 == 1 ? kRegister : 0));
      if (at % 3 == 2) tables.blue[part] |= std::uint64_t{1} << i;
    }
  }
  return tables;
}

constexpr JoinTables kJoin = MakeJoinTables();

inline void JoinRgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb) {
  for (std::size_t x = 0; x < width; x += kRegister, rgb += 3 * kRegister) {
    const std::size_t left = std::size_t{3} * (width - x);
    const __m512i r = Load(row[0] + x);
    const __m512i g = Load(row[1] + x);
    const __m512i b = Load(row[2] + x);
    for (std::size_t part = 0; part < 3 && left > part * kRegister; ++part) {
      const __m512i at = Load(kJoin.index[part]);
      const __m512i two = _mm512_permutex2var_epi8(r, at, g);
      const __m512i all = _mm512_mask_permutexvar_epi8(two, kJoin.blue[part], at, b);
      _mm512_mask_storeu_epi8(rgb + part * kRegister, FirstBytes(left - part * kRegister), all);
    }
  }
}

template <bool kStream>
HWY_INLINE void Floats(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                       float* out) {
  const __m512 scales = _mm512_set1_ps(scale);
  const __m512 biases = _mm512_set1_ps(bias);
  for (std::size_t x = 0; x < width; x += kLanes) {
    const std::size_t left = width - x;
    const auto mask = static_cast<__mmask16>(left >= kLanes ? 0xffffU : (1U << left) - 1);
    const __m512i values = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, in + x));
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(values), scales);
    const __m512 sum = _mm512_add_ps(product, biases);
    if (kStream && left >= kLanes) {
      _mm512_stream_ps(out + x, sum);
    } else {
      _mm512_mask_storeu_ps(out + x, mask, sum);
    }
  }
}

inline void ToFloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                    float* out) {
  Floats<false>(in, width, scale, bias, out);
}

inline void StreamFloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                        float* out) {
  if (!begins_cache_line(out)) return ToFloat(in, width, scale, bias, out);
  Floats<true>(in, width, scale, bias, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_POP_ATTRIBUTES
