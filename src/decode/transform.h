// SPDX-License-Identifier: Apache-2.0
/// \file What happens to a picture between the decoder and the batch, as data: the recipe, and
/// the parameters that one sample gets from it.
///
/// Values and pure functions; thread-safe. Parameters depend on (seed, epoch, sample id) and the
/// picture's size, and on nothing else: no thread, rank or batch changes a pixel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

enum class Augment {
  random_resized_crop,  ///< torchvision's RandomResizedCrop (scale 0.08–1, ratio 3/4–4/3) and flip
  center_crop,          ///< shorter side to `resize`, then the centre: validation
  pad_crop,             ///< zero-pad by 4, random crop back, flip: small pictures (CIFAR recipe)
  none,                 ///< the picture must have the target size already, else it is resized to it
};

/// Pillow's resampling filters; all but nearest antialias.
enum class Filter { nearest, box, bilinear, hamming, bicubic, lanczos };
enum class PassOrder { pillow12, pillow13 };  ///< see resize.h
/// Floats are rounded to 16 bits from the 32-bit ones, to the nearest, ties to even.
enum class Layout { nhwc_u8, nchw_u8, nchw_f32, nchw_f16, nchw_bf16 };

constexpr std::size_t bytes_of_value(Layout layout) {
  if (layout == Layout::nchw_f32) return 4;
  return layout == Layout::nchw_f16 || layout == Layout::nchw_bf16 ? 2 : 1;
}

struct Transform {
  Augment augment = Augment::random_resized_crop;
  std::uint32_t width = 224;
  std::uint32_t height = 224;
  std::uint32_t resize = 256;  ///< shorter side before the centre crop
  Filter filter = Filter::bilinear;
  PassOrder pass_order = PassOrder::pillow12;
  bool grey = false;  ///< one channel instead of RGB
  Layout layout = Layout::nchw_f32;
  /// float output is (pixel/255 - mean) / std, per channel; ImageNet's by default.
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> std{0.229F, 0.224F, 0.225F};

  std::uint32_t channels() const { return grey ? 1 : 3; }
  std::size_t sample_bytes() const {
    return std::size_t{width} * height * channels() * bytes_of_value(layout);
  }
  /// A stable text that names every choice above; kept in states and checkpoints.
  std::string to_text() const;
};

Result<Augment> parse_augment(std::string_view text);
Result<Filter> parse_filter(std::string_view text);
Result<Layout> parse_layout(std::string_view text);

struct SampleKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sample_id = 0;
};

struct Box {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
  bool operator==(const Box&) const = default;
};

/// What one sample gets. `source` is the part of the picture that is resized to `scaled_*`;
/// `crop_*` is where the output lies in the resized picture (it may leave it: zero padding).
struct Params {
  Box source;
  std::uint32_t scaled_width = 0, scaled_height = 0;
  std::int32_t crop_left = 0, crop_top = 0;
  bool flip = false;
};

Params params_for(const Transform& transform, const SampleKey& key, std::uint32_t width,
                  std::uint32_t height);

}  // namespace headrace
