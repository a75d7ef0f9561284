// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <iterator>
// jpeglib.h needs FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

namespace headrace {

namespace {

constexpr std::size_t kMaxKinds = 16;  // warnings of one picture are of few kinds

/// One kind of warning: the first text and how often it came.
struct Kind {
  int code = 0;
  std::uint32_t count = 0;
  std::array<char, JMSG_LENGTH_MAX> text{};
};

enum class Stop { none, library, truncated, warnings, scans };

}  // namespace

/// Plain data only: nothing here has a destructor that a longjmp could jump over.
struct JpegLibrary::Engine {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  Stop stop = Stop::none;
  std::array<char, JMSG_LENGTH_MAX> text{};
  bool allow_truncated = false;
  std::uint32_t max_warnings = 0;
  std::uint32_t max_scans = 0;
  std::uint64_t max_pixels = 0;
  std::uint32_t warnings = 0;
  std::array<Kind, kMaxKinds> kinds{};
  std::size_t kind_count = 0;
};

namespace {

// The engine is a private type; the callbacks find it through client_data.
template <class Engine>
struct Callbacks {
  static Engine& engine(j_common_ptr info) { return *static_cast<Engine*>(info->client_data); }

  [[noreturn]] static void leave(Engine& engine, Stop stop) {
    engine.stop = stop;
    // NOLINTNEXTLINE(cert-err52-cpp): the library's own way out; only its C frames are skipped
    std::longjmp(engine.escape, 1);
  }
  static void error_exit(j_common_ptr info) {
    auto& self = engine(info);
    self.errors.format_message(info, self.text.data());
    leave(self, Stop::library);
  }
  static void emit_message(j_common_ptr info, int level) {
    if (level >= 0) return;  // a trace
    auto& self = engine(info);
    const int code = self.errors.msg_code;
    if (code == JWRN_JPEG_EOF && !self.allow_truncated) leave(self, Stop::truncated);
    if (++self.warnings > self.max_warnings) leave(self, Stop::warnings);
    for (std::size_t i = 0; i < self.kind_count; ++i) {
      if (self.kinds[i].code == code) {
        ++self.kinds[i].count;
        return;
      }
    }
    if (self.kind_count == self.kinds.size()) return;
    Kind& kind = self.kinds[self.kind_count++];
    kind.code = code;
    kind.count = 1;
    self.errors.format_message(info, kind.text.data());
  }
  static void output_message(j_common_ptr) {}
  /// Called often while the scans of a progressive picture are read.
  static void progress(j_common_ptr info) {
    auto& self = engine(info);
    const auto scan = static_cast<std::uint32_t>(std::max(0, self.info.input_scan_number));
    const auto pixels = std::uint64_t{self.info.image_width} * self.info.image_height;
    if (scan > self.max_scans && pixels * scan > self.max_pixels) leave(self, Stop::scans);
  }
};

template <class Engine>
bool create(Engine& engine) {
  engine.info.err = jpeg_std_error(&engine.errors);
  engine.errors.error_exit = &Callbacks<Engine>::error_exit;
  engine.errors.emit_message = &Callbacks<Engine>::emit_message;
  engine.errors.output_message = &Callbacks<Engine>::output_message;
  engine.info.client_data = &engine;
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return false;
  jpeg_create_decompress(&engine.info);
  engine.progress.progress_monitor = &Callbacks<Engine>::progress;
  engine.info.progress = &engine.progress;
  return true;
}

template <class Engine>
bool read_header(Engine& engine, const unsigned char* data, std::size_t size) {
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return false;
  jpeg_abort_decompress(&engine.info);
  jpeg_mem_src(&engine.info, data, size);
  return jpeg_read_header(&engine.info, TRUE) == JPEG_HEADER_OK;
}

/// In libjpeg tables outlive their picture, for streams that send them once. Here every picture
/// stands alone: one that lacks a table must not be decoded by that of the picture before it.
void forget_tables(jpeg_decompress_struct& info) {
  const auto forget_codes = [](auto& tables) {
    for (JHUFF_TBL* table : tables) {
      if (table != nullptr) std::fill(std::begin(table->bits), std::end(table->bits), UINT8{0});
    }
  };
  forget_codes(info.dc_huff_tbl_ptrs);
  forget_codes(info.ac_huff_tbl_ptrs);
  for (JQUANT_TBL* table : info.quant_tbl_ptrs) {
    if (table != nullptr)
      std::fill(std::begin(table->quantval), std::end(table->quantval), UINT16{0});
  }
}

/// Whether a forgotten table has not come again by the first scan.
bool has_forgotten_tables(const jpeg_decompress_struct& info) {
  const auto is_zero = [](const auto& values) {
    return std::all_of(std::begin(values), std::end(values), [](auto value) { return value == 0; });
  };
  const auto any_code = [&](const auto& tables) {
    return std::any_of(std::begin(tables), std::end(tables), [&](const JHUFF_TBL* table) {
      return table != nullptr && is_zero(table->bits);
    });
  };
  return any_code(info.dc_huff_tbl_ptrs) || any_code(info.ac_huff_tbl_ptrs) ||
         std::any_of(
             std::begin(info.quant_tbl_ptrs), std::end(info.quant_tbl_ptrs),
             [&](const JQUANT_TBL* table) { return table != nullptr && is_zero(table->quantval); });
}

/// djpeg's and Pillow's rule, on the samples as they are stored (Adobe's are inverted).
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::uint32_t width) {
  for (std::uint32_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const std::uint32_t k = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>((cmyk[c] * k + 127U) / 255U);
    }
  }
}

template <class Engine>
bool start(Engine& engine) {
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return false;
  return jpeg_start_decompress(&engine.info) == TRUE;
}

constexpr std::uint32_t kRowsAtOnce = 16;

/// 0 rows mean failure.
template <class Engine>
std::uint32_t read_rows(Engine& engine, JSAMPARRAY rows, std::uint32_t count) {
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return 0;
  return jpeg_read_scanlines(&engine.info, rows, count);
}

template <class Engine>
bool finish_reading(Engine& engine) {
  // NOLINTNEXTLINE(cert-err52-cpp): see leave()
  if (setjmp(engine.escape) != 0) return false;
  return jpeg_finish_decompress(&engine.info) == TRUE;
}

template <class Engine>
void reset(Engine& engine, const DecodeLimits& limits) {
  engine.stop = Stop::none;
  engine.allow_truncated = limits.allow_truncated;
  engine.max_warnings = limits.warnings;
  engine.max_scans = limits.scans;
  engine.max_pixels = limits.pixels;
  engine.warnings = 0;
  engine.kind_count = 0;
}

}  // namespace

JpegLibrary::JpegLibrary() : engine_(std::make_unique<Engine>()) {
  if (!create(*engine_)) engine_.reset();  // no memory, or another version of the library
}

JpegLibrary::~JpegLibrary() {
  if (engine_) jpeg_destroy_decompress(&engine_->info);
}

Error JpegLibrary::failure() const {
  const auto* source = engine_->info.src;
  const auto at = source == nullptr ? 0 : size_ - std::min(size_, source->bytes_in_buffer);
  const Engine& engine = *engine_;
  switch (engine.stop) {
    case Stop::truncated:
      return {Code::corrupt, fmt::format("JPEG: cut short, {} bytes are there", size_),
              "get the whole file again"};
    case Stop::warnings:
      return {Code::exhausted, fmt::format("JPEG: more than {} warnings; first: {}",
                                           engine.max_warnings, engine.kinds[0].text.data())};
    case Stop::scans:
      return {Code::exhausted,
              fmt::format("JPEG: more than {} scans of a {} x {} picture", engine.max_scans,
                          engine.info.image_width, engine.info.image_height)};
    case Stop::none:
    case Stop::library:
      break;
  }
  const auto code = engine.errors.msg_code == JERR_OUT_OF_MEMORY ? Code::exhausted : Code::corrupt;
  return {code, fmt::format("JPEG: {} (before byte {} of {})", engine.text.data(), at, size_)};
}

Result<PictureInfo> JpegLibrary::open(ByteSpan encoded, const DecodeLimits& limits) {
  if (!engine_) return Error(Code::exhausted, "libjpeg-turbo could not be set up");
  reset(*engine_, limits);
  size_ = encoded.size();
  started_ = false;
  // libjpeg takes unsigned char; the bytes are only read.
  const auto* data = static_cast<const unsigned char*>(static_cast<const void*>(encoded.data()));
  forget_tables(engine_->info);
  if (!read_header(*engine_, data, encoded.size())) return failure();
  if (has_forgotten_tables(engine_->info)) {
    // Rare (and after ordinary pictures every progressive one): as a new decoder would read it.
    jpeg_destroy_decompress(&engine_->info);
    reset(*engine_, limits);
    if (!create(*engine_)) {
      engine_.reset();
      return Error(Code::exhausted, "libjpeg-turbo could not be set up");
    }
    if (!read_header(*engine_, data, encoded.size())) return failure();
  }
  auto& info = engine_->info;
  const auto pixels = std::uint64_t{info.image_width} * info.image_height;
  if (pixels > limits.pixels) {
    return Error(Code::exhausted, fmt::format("JPEG: {} x {} pixels, the limit is {} pixels",
                                              info.image_width, info.image_height, limits.pixels));
  }
  cmyk_ = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = cmyk_ ? JCS_CMYK : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  return PictureInfo{PictureFormat::jpeg, info.image_width, info.image_height};
}

Result<std::uint32_t> JpegLibrary::read(std::uint8_t* rgb, std::size_t stride,
                                        std::uint32_t count) {
  if (!started_ && !start(*engine_)) return failure();
  started_ = true;
  std::array<JSAMPROW, kRowsAtOnce> rows{};
  if (!cmyk_) {
    count = std::min(count, kRowsAtOnce);
    for (std::uint32_t i = 0; i < count; ++i) rows[i] = rgb + i * stride;
    const auto done = read_rows(*engine_, rows.data(), count);
    if (done == 0) return failure();
    return done;
  }
  cmyk_row_.resize(std::size_t{engine_->info.output_width} * 4);
  rows[0] = cmyk_row_.data();
  if (read_rows(*engine_, rows.data(), 1) == 0) return failure();
  cmyk_to_rgb(cmyk_row_.data(), rgb, engine_->info.output_width);
  return 1U;
}

Result<void> JpegLibrary::finish() {
  if (!finish_reading(*engine_)) return failure();
  return {};
}

void JpegLibrary::add_warnings(std::vector<std::string>& warnings) const {
  if (!engine_) return;
  for (std::size_t i = 0; i < engine_->kind_count; ++i) {
    const Kind& kind = engine_->kinds[i];
    const char* text = kind.text.data();
    warnings.push_back(kind.count == 1 ? std::string(text)
                                       : fmt::format("{} ({} of this kind)", text, kind.count));
  }
}

}  // namespace headrace
