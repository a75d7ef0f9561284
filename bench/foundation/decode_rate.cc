// SPDX-License-Identifier: Apache-2.0
// How fast one thread decodes pictures, as ratios in one run: our decoder to a finished sample,
// beside what it is made of: libjpeg-turbo on the whole picture, and our resize alone. The three
// are interleaved repeat by repeat, so that a machine that slows down slows all of them.
//
//   decode_rate FOLDER REPEATS      prints one JSON object
#include <algorithm>
#include <chrono>
#include <cstdio>  // before jpeglib.h, which needs FILE
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <jpeglib.h>

#include "headrace/decode/decoder.h"
#include "headrace/decode/resize.h"
#include "headrace/decode/store.h"
#include "headrace/decode/transform.h"

namespace {

using Encoded = std::vector<std::byte>;

struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;
};

/// As the library's own example does it: accurate DCT, fancy upsampling, RGB.
void whole_picture(const Encoded& encoded, Picture& out) {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  state.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
  jpeg_read_header(&state, TRUE);
  state.out_color_space = JCS_RGB;
  state.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&state);
  out.width = state.output_width;
  out.height = state.output_height;
  out.rgb.resize(std::size_t{3} * out.width * out.height);
  while (state.output_scanline < state.output_height) {
    JSAMPROW row = out.rgb.data() + std::size_t{3} * out.width * state.output_scanline;
    jpeg_read_scanlines(&state, &row, 1);
  }
  jpeg_finish_decompress(&state);
  jpeg_destroy_decompress(&state);
}

std::vector<Encoded> read_pictures(const std::filesystem::path& folder, std::size_t limit) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".jpg" || extension == ".jpeg") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.size() > limit) {  // an even choice over all classes
    std::vector<std::filesystem::path> chosen;
    for (std::size_t i = 0; i < limit; ++i) chosen.push_back(paths[i * paths.size() / limit]);
    paths = std::move(chosen);
  }
  std::vector<Encoded> pictures;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    pictures.emplace_back(begin, begin + text.size());
  }
  return pictures;
}

template <typename Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::json measure(const std::vector<Encoded>& pictures, long repeats) {
  std::vector<Picture> decoded(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) whole_picture(pictures[i], decoded[i]);

  const headrace::Transform transform;
  headrace::Decoder decoder;
  headrace::Resizer resizer;
  std::vector<std::byte> sample(transform.sample_bytes());
  Picture scratch;
  const auto key = [](std::size_t i) {
    return headrace::SampleKey{.seed = 1, .epoch = 0, .sample_id = i};
  };
  const auto rate = [&pictures](double seconds) {
    return static_cast<double>(pictures.size()) / seconds;
  };

  std::vector<double> ours, whole, resize;
  for (long repeat = -1; repeat < repeats; ++repeat) {
    const double our_seconds = seconds_of([&] {
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        if (!decoder.decode_into(pictures[i], transform, key(i), sample)) std::abort();
      }
    });
    const double whole_seconds = seconds_of([&] {
      for (const auto& picture : pictures) whole_picture(picture, scratch);
    });
    const double resize_seconds = seconds_of([&] {
      for (std::size_t i = 0; i < decoded.size(); ++i) {
        const auto& picture = decoded[i];
        const auto params = headrace::params_for(transform, key(i), picture.width, picture.height);
        const std::size_t stride = std::size_t{3} * picture.width;
        headrace::SampleWriter writer(transform, {0, 0, transform.width, transform.height}, sample);
        const auto* first =
            picture.rgb.data() + params.source.top * stride + std::size_t{3} * params.source.left;
        resizer.resize({first, stride, params.source.width, params.source.height},
                       {.width = params.scaled_width,
                        .height = params.scaled_height,
                        .window = {0, 0, transform.width, transform.height},
                        .flip = params.flip},
                       writer);
      }
    });
    if (repeat < 0) continue;  // the first round warms caches
    ours.push_back(rate(our_seconds));
    whole.push_back(rate(whole_seconds));
    resize.push_back(rate(resize_seconds));
  }
  return {{"pictures", pictures.size()},
          {"ours", ours},
          {"libjpeg_whole", whole},
          {"resize_alone", resize}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto pictures = argc == 3 ? read_pictures(argv[1], 400) : std::vector<Encoded>();
    if (pictures.empty()) {
      std::ignore = std::fputs("usage: decode_rate FOLDER_WITH_JPEGS REPEATS\n", stderr);
      return 2;
    }
    std::ignore = std::puts(measure(pictures, std::strtol(argv[2], nullptr, 10)).dump().c_str());
    return 0;
  } catch (const std::exception& bug) {
    std::ignore = std::fputs(bug.what(), stderr);
    return 1;
  }
}
