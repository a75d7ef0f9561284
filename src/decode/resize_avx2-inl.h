// SPDX-License-Identifier: Apache-2.0
/// \file resize_kernels for AVX2. Included once for each target.
//
// A weight of 23 bits and sign is w = (h << 15) + l with l in 15 bits, so that both fit 16 signed
// bits, and one multiply-add instruction sums two samples times two weights in each of 8 lanes.
// The exact sum is (h · x) << 15 + l · x, modulo 2^32, which it never leaves.
#include <immintrin.h>

#include <algorithm>

#include "headrace/decode/resize_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

enum Form : std::uint32_t {
  kHalves,  // the samples of 4 outputs lie within 16 bytes: one byte shuffle for 8 outputs
  kWide,    // one output at a time, 16 samples at a time
};

constexpr std::size_t kLanes = 8;
constexpr std::size_t kRegister = 32;
constexpr std::int32_t kHalf = 1 << (ResizeTable::kBits - 1);
constexpr int kLow = 15;

HWY_INLINE std::int16_t High(std::int32_t weight) {
  return static_cast<std::int16_t>(weight >> kLow);
}
HWY_INLINE std::int16_t Low(std::int32_t weight) {
  return static_cast<std::int16_t>(weight & ((1 << kLow) - 1));
}

/// Memory of a group of 8 outputs: for each pair of taps the indices, h and l.
inline void PlanHalves(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t outputs = table.outputs();
  const std::size_t pairs = plan.steps;
  std::uint8_t* memory = plan.memory.data();
  for (std::size_t group = 0; group * kLanes < outputs; ++group) {
    for (std::size_t pair = 0; pair < pairs; ++pair, memory += 3 * kRegister) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t output = group * kLanes + lane;
        const bool real = output < outputs;
        for (std::size_t tap = 0; tap < 2; ++tap) {
          const std::size_t sample = pair * 2 + tap;
          const std::size_t at = lane * 4 + tap * 2;
          const bool used = real && sample < table.count[output];
          const std::int32_t weight = used ? table.weights_of(output)[sample] : 0;
          const std::size_t index =
              used ? table.first[output] - plan.base[output / 4] + sample : 0x80;
          memory[at] = static_cast<std::uint8_t>(index);
          memory[at + 1] = 0x80;  // a zero above each sample
          const std::int16_t high = High(weight);
          const std::int16_t low = Low(weight);
          std::memcpy(memory + kRegister + at, &high, 2);
          std::memcpy(memory + 2 * kRegister + at, &low, 2);
        }
      }
    }
  }
}

/// Memory of an output: for each block of 16 taps h and l.
inline void PlanWide(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t blocks = (table.taps + 15) / 16;
  std::uint8_t* memory = plan.memory.data();
  for (std::size_t output = 0; output < table.outputs(); ++output) {
    for (std::size_t block = 0; block < blocks; ++block, memory += 2 * kRegister) {
      for (std::size_t tap = 0; tap < 16; ++tap) {
        const std::size_t sample = block * 16 + tap;
        const std::int32_t weight = sample < table.taps ? table.weights_of(output)[sample] : 0;
        const std::int16_t high = High(weight);
        const std::int16_t low = Low(weight);
        std::memcpy(memory + 2 * tap, &high, 2);
        std::memcpy(memory + kRegister + 2 * tap, &low, 2);
      }
    }
  }
}

inline void PlanAcross(const ResizeTable& table, AcrossPlan& plan) {
  const std::size_t outputs = table.outputs();
  std::uint32_t widest = 0;
  for (std::size_t begin = 0; begin < outputs; begin += 4) {
    const std::size_t end = begin + 4 < outputs ? begin + 4 : outputs;
    std::uint32_t first = table.first[begin];
    std::uint32_t last = first;
    for (std::size_t i = begin; i < end; ++i) {
      first = table.first[i] < first ? table.first[i] : first;
      last = table.first[i] + table.count[i] > last ? table.first[i] + table.count[i] : last;
    }
    plan.base[begin / 4] = first;
    widest = last - first > widest ? last - first : widest;
  }
  if ((outputs + 3) / 4 % 2 != 0) plan.base[(outputs + 3) / 4] = 0;  // of a half group's other half
  plan.form = widest > 16 ? kWide : kHalves;
  if (plan.form == kWide) return PlanWide(table, plan);
  const std::uint32_t most = *std::max_element(table.count.begin(), table.count.end());
  plan.steps = (most + 1) / 2;  // taps are a multiple of 4
  PlanHalves(table, plan);
}

HWY_INLINE __m256i Load(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

HWY_INLINE __m256i LoadHalves(const std::uint8_t* low, const std::uint8_t* high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
}

/// Sums in two parts, and how they come together.
struct Sums {
  __m256i high, low;
};

HWY_INLINE Sums NoSums() { return {_mm256_setzero_si256(), _mm256_set1_epi32(kHalf)}; }

HWY_INLINE void Add(Sums& sums, __m256i samples, __m256i high, __m256i low) {
  sums.high = _mm256_add_epi32(sums.high, _mm256_madd_epi16(samples, high));
  sums.low = _mm256_add_epi32(sums.low, _mm256_madd_epi16(samples, low));
}

HWY_INLINE __m256i Values(const Sums& sums) {
  return _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(sums.high, kLow), sums.low),
                           ResizeTable::kBits);
}

inline void RunHalves(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const std::size_t outputs = plan.table->outputs();
  const std::size_t pairs = plan.steps;
  const std::uint8_t* memory = plan.memory.data();
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (std::size_t group = 0; group * kLanes < outputs; ++group) {
    const std::size_t left = plan.base[2 * group];
    const std::size_t right = plan.base[2 * group + 1];
    const __m256i red = LoadHalves(row[0] + left, row[0] + right);
    const __m256i green = LoadHalves(row[1] + left, row[1] + right);
    const __m256i blue = LoadHalves(row[2] + left, row[2] + right);
    Sums r = NoSums();
    Sums g = NoSums();
    Sums b = NoSums();
    for (std::size_t pair = 0; pair < pairs; ++pair, memory += 3 * kRegister) {
      const __m256i index = Load(memory);
      const __m256i high = Load(memory + kRegister);
      const __m256i low = Load(memory + 2 * kRegister);
      Add(r, _mm256_shuffle_epi8(red, index), high, low);
      Add(g, _mm256_shuffle_epi8(green, index), high, low);
      Add(b, _mm256_shuffle_epi8(blue, index), high, low);
    }
    const __m256i blues = Values(b);
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(Values(r), Values(g)),
                                              _mm256_packs_epi32(blues, blues));
    // Each half holds four of red, green, blue, blue: the halves of a colour side by side.
    const __m256i sorted = _mm256_permutevar8x32_epi32(bytes, order);
    const __m128i first = _mm256_castsi256_si128(sorted);
    const __m128i second = _mm256_extracti128_si256(sorted, 1);
    const std::size_t at = group * kLanes;
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out[0] + at), first);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out[1] + at), _mm_unpackhi_epi64(first, first));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out[2] + at), second);
  }
}

HWY_INLINE std::int32_t Total(__m256i values) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return _mm_cvtsi128_si32(sum);
}

inline void RunWide(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  const ResizeTable& table = *plan.table;
  const std::size_t outputs = table.outputs();
  const std::size_t blocks = (table.taps + 15) / 16;
  const std::uint8_t* memory = plan.memory.data();
  for (std::size_t i = 0; i < outputs; ++i, memory += blocks * 2 * kRegister) {
    const std::size_t used = (table.count[i] + 15) / 16;
    for (std::size_t p = 0; p < 3; ++p) {
      const std::uint8_t* at = row[p] + table.first[i];
      __m256i high = _mm256_setzero_si256();
      __m256i low = high;
      for (std::size_t block = 0; block < used; ++block) {
        const __m256i samples = _mm256_cvtepu8_epi16(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * block)));
        const std::uint8_t* weights = memory + block * 2 * kRegister;
        high = _mm256_add_epi32(high, _mm256_madd_epi16(samples, Load(weights)));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(samples, Load(weights + kRegister)));
      }
      const std::int32_t sum = Total(_mm256_add_epi32(_mm256_slli_epi32(high, kLow), low)) + kHalf;
      const std::int32_t value = sum >> ResizeTable::kBits;
      out[p][i] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

inline void RunAcross(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  if (plan.form == kWide) return RunWide(plan, row, out);
  RunHalves(plan, row, out);
}

/// Two neighbouring weights as one lane wants them: h of both, l of both.
struct WeightPair {
  std::uint32_t high, low;
};
HWY_INLINE WeightPair PairOf(const std::int32_t* weights) {
  const auto join = [](std::int16_t first, std::int16_t second) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(first)) |
           static_cast<std::uint32_t>(static_cast<std::uint16_t>(second)) << 16U;
  };
  return {join(High(weights[0]), High(weights[1])), join(Low(weights[0]), Low(weights[1]))};
}
HWY_INLINE __m256i InAllLanes(std::uint32_t x) {
  return _mm256_set1_epi32(static_cast<std::int32_t>(x));
}

/// Two rows of 32 columns, in the order of unpacking, which packing undoes.
HWY_INLINE void AddRows(Sums (&sums)[4], const std::uint8_t* row, const std::uint8_t* next,
                        const WeightPair& weights) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i high = InAllLanes(weights.high);
  const __m256i low = InAllLanes(weights.low);
  const __m256i r0 = Load(row);
  const __m256i r1 = Load(next);
  const __m256i first = _mm256_unpacklo_epi8(r0, r1);
  const __m256i second = _mm256_unpackhi_epi8(r0, r1);
  Add(sums[0], _mm256_unpacklo_epi8(first, zero), high, low);
  Add(sums[1], _mm256_unpackhi_epi8(first, zero), high, low);
  Add(sums[2], _mm256_unpacklo_epi8(second, zero), high, low);
  Add(sums[3], _mm256_unpackhi_epi8(second, zero), high, low);
}

inline void RunDown(const std::uint8_t* const* rows, const std::int32_t* weights,
                    std::uint32_t taps, std::uint32_t width, std::uint8_t* out) {
  while (taps > 2 && weights[taps - 1] == 0 && weights[taps - 2] == 0) taps -= 2;
  constexpr std::uint32_t kMost = 16;  // pairs; more are rare, and split anew for each 32 columns
  WeightPair pairs[kMost];
  const std::uint32_t ready = taps / 2 < kMost ? taps / 2 : kMost;
  for (std::uint32_t i = 0; i < ready; ++i) pairs[i] = PairOf(weights + 2 * i);
  for (std::size_t x = 0; x < width; x += kRegister) {
    Sums sums[4] = {NoSums(), NoSums(), NoSums(), NoSums()};
    for (std::uint32_t i = 0; i < ready; ++i) {
      AddRows(sums, rows[2 * i] + x, rows[2 * i + 1] + x, pairs[i]);
    }
    for (std::uint32_t i = ready; i < taps / 2; ++i) {
      AddRows(sums, rows[2 * i] + x, rows[2 * i + 1] + x, PairOf(weights + 2 * i));
    }
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(Values(sums[0]), Values(sums[1])),
                                              _mm256_packs_epi32(Values(sums[2]), Values(sums[3])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), bytes);
  }
}

inline void SplitRgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = Lanes(d);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    auto r = Zero(d);
    auto g = r;
    auto b = r;
    LoadInterleaved3(d, rgb + 3 * x, r, g, b);
    StoreU(r, d, out[0] + x);
    StoreU(g, d, out[1] + x);
    StoreU(b, d, out[2] + x);
  }
  for (; x < width; ++x) {
    for (std::size_t c = 0; c < 3; ++c) out[c][x] = rgb[3 * x + c];
  }
}

inline void JoinRgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = Lanes(d);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    StoreInterleaved3(LoadU(d, row[0] + x), LoadU(d, row[1] + x), LoadU(d, row[2] + x), d,
                      rgb + 3 * x);
  }
  for (; x < width; ++x) {
    for (std::size_t c = 0; c < 3; ++c) rgb[3 * x + c] = row[c][x];
  }
}

template <bool kStream>
HWY_INLINE void Floats(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                       float* out) {
  const __m256 scales = _mm256_set1_ps(scale);
  const __m256 biases = _mm256_set1_ps(bias);
  std::size_t x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    const __m256i values =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + x)));
    const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(values), scales);
    const __m256 sum = _mm256_add_ps(product, biases);
    if constexpr (kStream) {
      _mm256_stream_ps(out + x, sum);
    } else {
      _mm256_storeu_ps(out + x, sum);
    }
  }
  for (; x < width; ++x) out[x] = static_cast<float>(in[x]) * scale + bias;
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
HWY_AFTER_NAMESPACE();
