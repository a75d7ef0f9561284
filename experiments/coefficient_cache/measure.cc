// SPDX-License-Identifier: Apache-2.0
// Whether stored coefficients would pay: samples from them beside samples by the seek index.
//
//   coefficient_cache FOLDER TURNS [EPOCHS]      one thread, bytes in memory
//
// Checks first that every sample that is measured is equal byte by byte. Then 64 pictures of each
// way by turns, all ways the same pictures and crops; processor time; medians over turns. EPOCHS
// more crops of each picture are compared, not measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "coefficient_decoder.h"
#include "form.h"
#include "headrace/base/random.h"
#include "headrace/decode/decode_rates.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/vector_units.h"

namespace headrace::coefficients {
namespace {

struct Picture {
  std::vector<std::byte> jpeg;
  Hash128 payload;
  std::vector<std::byte> index;
  Form form;
  std::string sampling;
};

enum Way : std::size_t { kIndex, kForm, kFree, kWays };

[[noreturn]] void fail(const std::string& why) {
  (void)std::fprintf(stderr, "coefficient_cache: %s\n", why.c_str());
  std::exit(1);
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

class Bench {
 public:
  explicit Bench(std::vector<Picture> pictures) : pictures_(std::move(pictures)) {}

  void use(VectorUnit unit) {
    if (!use_vector_unit(unit)) fail("this processor has no such unit");
    coefficients_.use_avx512(unit == VectorUnit::best);
  }

  void sample(Way way, const Picture& picture, const SampleKey& key, std::span<std::byte> out) {
    if (way == kIndex) {
      const SeekUse seek{picture.index, picture.payload};
      if (!decoder_.decode_into(picture.jpeg, transform_, key, out, &seek)) fail("no sample");
    } else {
      coefficients_.expand_one_row_only(way == kFree);
      if (!coefficients_.decode_into(picture.form, transform_, key, out)) fail("not a form");
    }
  }

  void compare(std::size_t epochs) {
    std::vector<std::byte> other(out_.size());
    for (std::size_t i = 0; i < pictures_.size() * epochs; ++i) {
      const SampleKey key{1, i / pictures_.size(), i % pictures_.size()};
      const Picture& picture = pictures_[key.sample_id];
      sample(kIndex, picture, key, out_);
      std::fill(other.begin(), other.end(), std::byte{0x55});
      sample(kForm, picture, key, other);
      if (out_ != other) fail("a sample differs: picture " + std::to_string(key.sample_id));
    }
    std::printf("%s: %zu samples equal byte by byte\n", std::string(vector_unit_name()).c_str(),
                pictures_.size() * epochs);
  }

  /// Microseconds of one way for these pictures, each once.
  using Times = std::array<double, kWays>;
  Times turn(std::size_t begin, std::size_t end) {
    constexpr std::size_t kFew = 64;
    Times times{};
    for (std::size_t at = begin; at < end; at += kFew) {
      for (std::size_t i = 0; i < kWays; ++i) {
        const auto way = static_cast<Way>((at / kFew + i) % kWays);  // the first finds bytes cold
        const double before = thread_seconds();
        for (std::size_t p = at; p < std::min(at + kFew, end); ++p) {
          sample(way, pictures_[p], {1, 0, p}, out_);
        }
        times[way] += (thread_seconds() - before) * 1e6;
      }
    }
    return times;
  }

  /// Pictures lie group by group.
  void measure(std::size_t turns) {
    std::printf("%-10s %-6s %8s %9s %9s %8s %9s\n", "unit", "group", "pictures", "index us",
                "form us", "ratio", "free");
    const std::string unit(vector_unit_name());
    std::vector<Times> all(turns, Times{});
    for (std::size_t begin = 0; begin < pictures_.size();) {
      std::size_t end = begin;
      while (end < pictures_.size() && pictures_[end].sampling == pictures_[begin].sampling) ++end;
      turn(begin, end);  // caches of the allocator and of the branch predictor are warm
      std::vector<Times> group;
      for (std::size_t i = 0; i < turns; ++i) {
        group.push_back(turn(begin, end));
        for (std::size_t way = 0; way < kWays; ++way) all[i][way] += group.back()[way];
      }
      report(unit, pictures_[begin].sampling, group, end - begin);
      begin = end;
    }
    report(unit, "all", all, pictures_.size());
  }

  void report_bytes() {
    std::vector<double> jpeg, size, ratio, by_index, by_form, rows;
    std::uint64_t blocks = 0, wide = 0, values = 0;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      const Picture& p = pictures_[i];
      jpeg.push_back(static_cast<double>(p.jpeg.size()));
      size.push_back(static_cast<double>(p.form.bytes.size()));
      ratio.push_back(size.back() / jpeg.back());
      blocks += p.form.blocks;
      wide += p.form.wide;
      values += p.form.values;
      sample(kIndex, p, {1, 0, i}, out_);
      by_index.push_back(static_cast<double>(decoder_.bytes_touched()));
      sample(kForm, p, {1, 0, i}, out_);
      by_form.push_back(static_cast<double>(coefficients_.bytes_touched()));
      rows.push_back(static_cast<double>(coefficients_.bytes_of_rows()));
    }
    const auto line = [](const char* what, const std::vector<double>& of) {
      std::printf("%-40s mean %10.2f median %10.2f\n", what, mean(of), median(of));
    };
    line("JPEG, bytes", jpeg);
    line("form, bytes", size);
    line("form / JPEG", ratio);
    line("read a crop by the index, bytes", by_index);
    line("read a crop from the form, bytes", by_form);
    line("whole MCU rows of the form, bytes", rows);
    const auto b = static_cast<double>(blocks);
    std::printf("AC values a block %.1f, wide blocks %.2f %%\n", static_cast<double>(values) / b,
                100 * static_cast<double>(wide) / b);
  }

  void report_making() {
    std::vector<double> times;
    for (const Picture& picture : pictures_) {
      const double before = thread_seconds();
      if (!make_form(picture.jpeg)) fail("no form");
      times.push_back((thread_seconds() - before) * 1e6);
    }
    std::printf("making a form, us: mean %.0f median %.0f\n", mean(times), median(times));
  }

 private:
  static void report(const std::string& unit, const std::string& group,
                     const std::vector<Times>& turns, std::size_t pictures) {
    std::array<double, kWays> us{};
    std::vector<double> ratios, free;
    for (std::size_t way = 0; way < kWays; ++way) {
      std::vector<double> times;
      times.reserve(turns.size());
      for (const Times& turn : turns) times.push_back(turn[way] / static_cast<double>(pictures));
      us[way] = median(std::move(times));
    }
    for (const Times& turn : turns) {
      ratios.push_back(turn[kIndex] / turn[kForm]);
      free.push_back(turn[kIndex] / turn[kFree]);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("%-10s %-6s %8zu %9.1f %9.1f %8.2f %9.2f   (turns: %.2f to %.2f)\n", unit.c_str(),
                group.c_str(), pictures, us[kIndex], us[kForm], median(ratios), median(free),
                *least, *most);
  }

  std::vector<Picture> pictures_;
  Transform transform_;
  std::vector<std::byte> out_ = std::vector<std::byte>(transform_.sample_bytes());
  Decoder decoder_;
  CoefficientDecoder coefficients_;
};

std::vector<Picture> read_pictures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  Random random(1);  // so that neighbours are not cut from the same photograph
  for (std::size_t i = paths.size(); i > 1; --i) std::swap(paths[i - 1], paths[random.below(i)]);
  std::vector<Picture> pictures;
  Decoder decoder;
  const Transform transform;
  std::vector<std::byte> out(transform.sample_bytes());
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Picture picture;
    picture.jpeg.assign(as_byte_span(text).begin(), as_byte_span(text).end());
    picture.payload = hash_bytes(picture.jpeg);
    picture.sampling = sampling_of(picture.jpeg);
    const SeekUse seek{{}, picture.payload, &picture.index};
    if (!decoder.decode_into(picture.jpeg, transform, {}, out, &seek)) continue;
    auto form = make_form(picture.jpeg);
    if (picture.index.empty() || !form) continue;
    picture.form = std::move(*form);
    pictures.push_back(std::move(picture));
  }
  std::stable_sort(pictures.begin(), pictures.end(),
                   [](const auto& a, const auto& b) { return a.sampling < b.sampling; });
  if (pictures.empty()) fail("no picture that can be taken");
  std::printf("%zu of %zu files taken\n", pictures.size(), paths.size());
  return pictures;
}

}  // namespace
}  // namespace headrace::coefficients

int main(int argc, char** argv) {
  using namespace headrace;
  if (argc < 3) coefficients::fail("usage: coefficient_cache FOLDER TURNS [EPOCHS]");
  coefficients::Bench bench(coefficients::read_pictures(argv[1]));
  const auto turns = std::strtoul(argv[2], nullptr, 10);
  const auto epochs = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0UL;
  for (const auto unit : {VectorUnit::best, VectorUnit::avx2}) {
    bench.use(unit);
    bench.compare(1 + epochs);
    if (turns > 0) bench.measure(turns);
  }
  bench.use(VectorUnit::best);
  bench.report_bytes();
  bench.report_making();
}
