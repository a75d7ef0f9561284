// SPDX-License-Identifier: Apache-2.0
// resize_kernels for AVX-512 with VBMI and VNNI. Included once for each target.
//
// A weight of 23 bits and sign is three signed bytes, w = (a << 16) + (b << 8) + c, so that one
// dot-product instruction adds four samples times four weights in each of 16 lanes. The exact sum
// comes from three of them: ((a · x) << 8 + b · x) << 8 + c · x, modulo 2^32, which it never
// leaves.
#include <immintrin.h>

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

/// Sums by the a, b and c parts of the weights to bytes.
HWY_INLINE __m128i Join(const __m512i* parts) {
  const __m512i high = Shift8(_mm512_add_epi32(Shift8(parts[0]), parts[1]));
  return Bytes(_mm512_add_epi32(high, _mm512_add_epi32(parts[2], _mm512_set1_epi32(kHalf))));
}

template <Form form>
HWY_INLINE __m512i Pick(const std::uint8_t* at, __m512i index) {
  if (form == kNarrow) return _mm512_permutexvar_epi8(index, Load(at));
  return _mm512_permutex2var_epi8(Load(at), index, Load(at + kRegister));
}

/// `kBlocks` is table.taps / 4, or 0 for any.
template <Form form, int kBlocks>
HWY_INLINE void RunGroups(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const std::size_t outputs = plan.table->outputs();
  const int blocks = kBlocks != 0 ? kBlocks : static_cast<int>(plan.table->taps / 4);
  const std::uint8_t* memory = plan.memory.data();
  const std::uint8_t* const red = row[0];
  const std::uint8_t* const green = row[1];
  const std::uint8_t* const blue = row[2];
  for (std::size_t group = 0; group * kLanes < outputs; ++group) {
    __m512i r[3] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    __m512i g[3] = {r[0], r[0], r[0]};
    __m512i b[3] = {r[0], r[0], r[0]};
    const std::size_t base = plan.base[group];
    for (int block = 0; block < blocks; ++block, memory += 4 * kRegister) {
      const __m512i index = Load(memory);
      const __m512i x = Pick<form>(red + base, index);
      const __m512i y = Pick<form>(green + base, index);
      const __m512i z = Pick<form>(blue + base, index);
      for (int part = 0; part < 3; ++part) {
        const __m512i weights = Load(memory + (1 + part) * static_cast<int>(kRegister));
        r[part] = _mm512_dpbusd_epi32(r[part], x, weights);
        g[part] = _mm512_dpbusd_epi32(g[part], y, weights);
        b[part] = _mm512_dpbusd_epi32(b[part], z, weights);
      }
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[0] + group * kLanes), Join(r));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[1] + group * kLanes), Join(g));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[2] + group * kLanes), Join(b));
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
      __m512i a = _mm512_setzero_si512();
      __m512i b = a;
      __m512i c = a;
      for (std::size_t block = 0; block < used; ++block) {
        const __m512i x = Load(at + block * kRegister);
        const std::uint8_t* weights = memory + block * 3 * kRegister;
        a = _mm512_dpbusd_epi32(a, x, Load(weights));
        b = _mm512_dpbusd_epi32(b, x, Load(weights + kRegister));
        c = _mm512_dpbusd_epi32(c, x, Load(weights + 2 * kRegister));
      }
      const __m512i sums = _mm512_add_epi32(Shift8(_mm512_add_epi32(Shift8(a), b)), c);
      const std::int32_t value = (_mm512_reduce_add_epi32(sums) + kHalf) >> ResizeTable::kBits;
      out[p][i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

inline void RunAcross(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const std::uint32_t blocks = plan.table->taps / 4;
  if (plan.form == kWide) return RunWide(plan, row, out);
  if (plan.form == kMedium) return RunGroups<kMedium, 0>(plan, row, out);
  if (blocks == 1) return RunGroups<kNarrow, 1>(plan, row, out);
  if (blocks == 2) return RunGroups<kNarrow, 2>(plan, row, out);
  RunGroups<kNarrow, 0>(plan, row, out);
}

/// Four weights, one part of each, in every lane.
struct FourWeights {
  __m512i a, b, c;
};

HWY_INLINE FourWeights SplitFour(const std::int32_t* weights) {
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
  __m512i q[4];
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
  return {{_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
           _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)}};
}

HWY_INLINE __m512i Pack(const __m512i* sums) {
  return _mm512_packus_epi16(_mm512_packs_epi32(Value(sums[0]), Value(sums[1])),
                             _mm512_packs_epi32(Value(sums[2]), Value(sums[3])));
}

inline void RunDown(const std::uint8_t* const* rows, const std::int32_t* weights,
                    std::uint32_t taps, std::uint32_t width, std::uint8_t* out) {
  const __m512i half = _mm512_set1_epi32(kHalf);
  if (taps == 4) {
    const FourWeights four = SplitFour(weights);
    const __m512i start = _mm512_set1_epi32(kHalf >> 16);
    for (std::size_t x = 0; x < width; x += kRegister) {
      Columns columns = Transpose(rows, x);
      for (auto& q : columns.q) {
        __m512i sum = Shift8(_mm512_dpbusd_epi32(start, q, four.a));
        sum = Shift8(_mm512_dpbusd_epi32(sum, q, four.b));
        q = _mm512_dpbusd_epi32(sum, q, four.c);
      }
      _mm512_storeu_si512(out + x, Pack(columns.q));
    }
    return;
  }
  for (std::size_t x = 0; x < width; x += kRegister) {
    __m512i sums[4] = {half, half, half, half};
    for (std::uint32_t tap = 0; tap < taps; tap += 4) {
      const FourWeights four = SplitFour(weights + tap);
      const Columns columns = Transpose(rows + tap, x);
      for (int i = 0; i < 4; ++i) {
        const __m512i q = columns.q[i];
        const __m512i zero = _mm512_setzero_si512();
        __m512i part = Shift8(_mm512_dpbusd_epi32(zero, q, four.a));
        part = Shift8(_mm512_dpbusd_epi32(part, q, four.b));
        sums[i] = _mm512_add_epi32(sums[i], _mm512_dpbusd_epi32(part, q, four.c));
      }
    }
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

inline void SplitRgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out) {
  // Byte 3 i + c of three registers: indices into the first two, then the rest from the third.
  alignas(64) std::uint8_t two[3][kRegister];
  alignas(64) std::uint8_t three[3][kRegister];
  __mmask64 late[3];
  for (std::size_t c = 0; c < 3; ++c) {
    late[c] = 0;
    for (std::size_t i = 0; i < kRegister; ++i) {
      const std::size_t at = 3 * i + c;
      two[c][i] = static_cast<std::uint8_t>(at & 127U);
      three[c][i] = static_cast<std::uint8_t>(at & 63U);
      if (at >= 2 * kRegister) late[c] |= __mmask64{1} << i;
    }
  }
  for (std::size_t x = 0; x < width; x += kRegister, rgb += 3 * kRegister) {
    const std::size_t left = std::size_t{3} * (width - x);
    const __m512i v0 = LoadSome(rgb, 0, left);
    const __m512i v1 = LoadSome(rgb, kRegister, left);
    const __m512i v2 = LoadSome(rgb, 2 * kRegister, left);
    for (std::size_t c = 0; c < 3; ++c) {
      const __m512i early = _mm512_permutex2var_epi8(v0, Load(two[c]), v1);
      _mm512_storeu_si512(out[c] + x,
                          _mm512_mask_permutexvar_epi8(early, late[c], Load(three[c]), v2));
    }
  }
}

inline void JoinRgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb) {
  // Byte at of the result is byte at / 3 of plane at % 3.
  alignas(64) std::uint8_t index[3][kRegister];
  __mmask64 blue[3];
  for (std::size_t part = 0; part < 3; ++part) {
    blue[part] = 0;
    for (std::size_t i = 0; i < kRegister; ++i) {
      const std::size_t at = part * kRegister + i;
      index[part][i] = static_cast<std::uint8_t>(at / 3 + (at % 3 == 1 ? kRegister : 0));
      if (at % 3 == 2) blue[part] |= __mmask64{1} << i;
    }
  }
  for (std::size_t x = 0; x < width; x += kRegister, rgb += 3 * kRegister) {
    const std::size_t left = std::size_t{3} * (width - x);
    const __m512i r = Load(row[0] + x);
    const __m512i g = Load(row[1] + x);
    const __m512i b = Load(row[2] + x);
    for (std::size_t part = 0; part < 3 && left > part * kRegister; ++part) {
      const __m512i at = Load(index[part]);
      const __m512i two = _mm512_permutex2var_epi8(r, at, g);
      const __m512i all = _mm512_mask_permutexvar_epi8(two, blue[part], at, b);
      _mm512_mask_storeu_epi8(rgb + part * kRegister, FirstBytes(left - part * kRegister), all);
    }
  }
}

inline void ToFloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                    float* out) {
  const __m512 scales = _mm512_set1_ps(scale);
  const __m512 biases = _mm512_set1_ps(bias);
  for (std::size_t x = 0; x < width; x += kLanes) {
    const std::size_t left = width - x;
    const auto mask = static_cast<__mmask16>(left >= kLanes ? 0xffffU : (1U << left) - 1);
    const __m512i values = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, in + x));
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(values), scales);
    _mm512_mask_storeu_ps(out + x, mask, _mm512_add_ps(product, biases));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_POP_ATTRIBUTES
