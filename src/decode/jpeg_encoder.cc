// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <span>
// jpeglib.h needs FILE and size_t declared before it.
#include <jpeglib.h>

namespace headrace {
namespace {

/// Plain data only: nothing here has a destructor that a longjmp could jump over.
struct Engine {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf escape{};
  std::array<char, JMSG_LENGTH_MAX> text{};
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): the library's type
};

void leave(j_common_ptr info) {
  auto& engine = *static_cast<Engine*>(info->client_data);
  engine.errors.format_message(info, engine.text.data());
  // NOLINTNEXTLINE(cert-err52-cpp): the library's own way out; only its C frames are skipped
  std::longjmp(engine.escape, 1);
}

void say_nothing(j_common_ptr /*info*/) {}

bool run(Engine& engine, const RgbView& picture, int quality) {
  engine.info.err = jpeg_std_error(&engine.errors);
  engine.errors.error_exit = leave;
  engine.errors.output_message = say_nothing;
  engine.info.client_data = &engine;
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return false;
  jpeg_create_compress(&engine.info);
  jpeg_mem_dest(&engine.info, &engine.out, &engine.size);
  engine.info.image_width = picture.width;
  engine.info.image_height = picture.height;
  engine.info.input_components = 3;
  engine.info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&engine.info);
  jpeg_set_quality(&engine.info, quality, TRUE);
  engine.info.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&engine.info, TRUE);
  while (engine.info.next_scanline < engine.info.image_height) {
    // The library only reads; its interface is older than const.
    auto* row = const_cast<JSAMPLE*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        picture.pixels + engine.info.next_scanline * picture.stride);
    jpeg_write_scanlines(&engine.info, &row, 1);
  }
  jpeg_finish_compress(&engine.info);
  return true;
}

}  // namespace

Result<std::vector<std::byte>> encode_jpeg(const RgbView& picture, int quality) {
  Engine engine;
  const bool done = run(engine, picture, quality);
  std::vector<std::byte> bytes;
  if (done) {
    const std::span<const unsigned char> out(engine.out, engine.size);
    bytes.resize(out.size());
    std::ranges::transform(out, bytes.begin(), [](unsigned char c) { return std::byte{c}; });
  }
  jpeg_destroy_compress(&engine.info);
  std::free(engine.out);  // NOLINT(cppcoreguidelines-no-malloc): jpeg_mem_dest's own memory
  if (!done) {
    return Error(Code::invalid, fmt::format("{} x {} pixels cannot be a JPEG: {}", picture.width,
                                            picture.height, engine.text.data()));
  }
  return bytes;
}

}  // namespace headrace
