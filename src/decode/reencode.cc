// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/reencode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/decode/jpeg_encoder.h"
#include "headrace/decode/resize.h"

namespace headrace {
namespace {

constexpr int kQuality = 95;

class RowCollector final : public RowSink {
 public:
  RowCollector(std::uint32_t width, std::uint32_t height)
      : width_(width), rgb_(std::size_t{3} * width * height) {}

  void row(std::uint32_t y, const PlanarRow& row) override {
    join_rgb(row, width_, rgb_.data() + std::size_t{3} * width_ * y);
  }
  const std::uint8_t* pixels() const { return rgb_.data(); }

 private:
  const std::uint32_t width_;
  std::vector<std::uint8_t> rgb_;
};

struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// The shorter side becomes `side`, the other keeps the shape, cut down as torchvision does.
Size scaled(const PictureInfo& info, std::uint32_t side) {
  const auto longer = [side](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(std::uint64_t{side} * a / b);
  };
  if (info.width <= info.height) return {side, longer(info.height, info.width)};
  return {longer(info.width, info.height), side};
}

}  // namespace

std::string ReencodeOptions::to_text() const {
  return fmt::format("resize {} quality {}", resize, quality);
}

struct Reencoder::Worker {
  Decoder decoder;
  Resizer resizer;

  Result<Bytes> apply(const Bytes& picture, const ReencodeOptions& options) {
    HEADRACE_TRY(const auto info, decoder.inspect(picture.span()));
    const bool smaller = options.resize != 0 && std::min(info.width, info.height) > options.resize;
    if (!smaller && options.quality == 0) return picture;
    HEADRACE_TRY(const auto pixels, decoder.decode(picture.span()));
    const RgbView whole{.pixels = pixels.rgb.data(),
                        .stride = std::size_t{3} * pixels.width,
                        .width = pixels.width,
                        .height = pixels.height};
    const int quality = options.quality == 0 ? kQuality : options.quality;
    if (!smaller) return encode(whole, quality);
    const Size size = scaled(info, options.resize);
    RowCollector rows(size.width, size.height);
    resizer.resize(whole, {size.width, size.height, {0, 0, size.width, size.height}}, rows);
    return encode({.pixels = rows.pixels(),
                   .stride = std::size_t{3} * size.width,
                   .width = size.width,
                   .height = size.height},
                  quality);
  }

  static Result<Bytes> encode(const RgbView& view, int quality) {
    HEADRACE_TRY(auto bytes, encode_jpeg(view, quality));
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    const ByteSpan span(*owner);
    return Bytes(std::move(owner), span);
  }
};

Reencoder::Reencoder(const ReencodeOptions& options) : options_(options) {}
Reencoder::~Reencoder() = default;

Result<Bytes> Reencoder::apply(const Bytes& picture) {
  auto worker = take();
  auto result = worker->apply(picture, options_);
  give_back(std::move(worker));
  // A limit on pictures is the picture's fault.
  if (!result && result.error().code() == Code::exhausted)
    return Error(Code::corrupt, result.error().cause());
  return result;
}

std::unique_ptr<Reencoder::Worker> Reencoder::take() {
  {
    const MutexLock lock(mutex_);
    if (!free_.empty()) {
      auto worker = std::move(free_.back());
      free_.pop_back();
      return worker;
    }
  }
  return std::make_unique<Worker>();
}

void Reencoder::give_back(std::unique_ptr<Worker> worker) {
  const MutexLock lock(mutex_);
  free_.push_back(std::move(worker));
}

}  // namespace headrace
