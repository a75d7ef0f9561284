// SPDX-License-Identifier: Apache-2.0
// The resize alone, to 224 x 224 float32 planes, from sources of several sizes, on each vector
// unit: resize_bench --benchmark_filter=AVX2
#include <benchmark/benchmark.h>

#include <hwy/targets.h>

#include "headrace/decode/resize.h"
#include "headrace/decode/store.h"

namespace headrace {
namespace {

void resize_to_224(benchmark::State& state, std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().DeInit();
  const auto width = static_cast<std::uint32_t>(state.range(0));
  const auto height = static_cast<std::uint32_t>(state.range(1));
  std::vector<std::uint8_t> rgb(std::size_t{width} * height * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i * 7 / 3);
  const Transform transform;
  std::vector<std::byte> out(transform.sample_bytes());
  Resizer resizer;
  for ([[maybe_unused]] auto _ : state) {
    SampleWriter writer(transform, {0, 0, 224, 224}, out);
    resizer.resize({rgb.data(), std::size_t{width} * 3, width, height},
                   {224, 224, {0, 0, 224, 224}}, writer);
    benchmark::DoNotOptimize(out.data());
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

void add_all() {
  for (auto left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const auto target = left & -left;
    if (target < 0 || target > HWY_AVX2) continue;
    auto* bench = benchmark::RegisterBenchmark(hwy::TargetName(target), resize_to_224, target);
    for (const auto& size :
         {std::pair{150, 120}, {300, 300}, {500, 375}, {1000, 750}, {4000, 3000}}) {
      bench->Args({size.first, size.second});
    }
    bench->Unit(benchmark::kMicrosecond);
  }
}

const int kAdded = (add_all(), 0);

}  // namespace
}  // namespace headrace
