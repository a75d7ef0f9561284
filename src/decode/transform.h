// SPDX-License-Identifier: Apache-2.0
/// \file What happens to a picture between the decoder and the batch, as data: the recipe, and
/// the parameters that one sample gets from it.
///
/// Values and pure functions; thread-safe. Parameters depend on (seed, epoch, sample id) and the
/// picture's size, and on nothing else: no thread, rank or batch changes a pixel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

enum class Augment {
  random_resized_crop,  ///< torchvision's RandomResizedCrop (scale 0.08–1, ratio 3/4–4/3) and flip
  center_crop,          ///< shorter side to `resize`, then the centre: validation
  pad_crop,             ///< zero-pad by 4, random crop back, flip: small pictures (CIFAR recipe)
  none,                 ///< the picture must have the target size already, else it is resized to it
  crop,        ///< shorter side to `resize`, random crop, flip: SageMaker's built-in classifier
  crop_color,  ///< and hue ±36, lightness ±50, saturation ±50 (warp.h, hls.h)
  crop_color_transform,  ///< and, before the crop, rotation, shear and change of aspect
};

/// torchvision's ColorJitter: each factor is drawn from 1 ± its value, the hue from ± its value.
struct Jitter {
  float brightness = 0, contrast = 0, saturation = 0;  ///< not negative
  float hue = 0;                                       ///< at most 0.5
  bool any() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0; }
};

/// Whether EXIF's (or, without it, XMP's) orientation turns the picture first (metadata.h).
enum class Orient { stored, exif };
/// Whether an embedded colour profile is followed, to sRGB, before anything else
/// (colour_profile.h).
enum class Colours { stored, srgb };

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
  std::uint32_t resize = 256;  ///< shorter side before a crop without scale; 0: as the picture is
  Filter filter = Filter::bilinear;
  PassOrder pass_order = PassOrder::pillow12;
  bool grey = false;  ///< one channel instead of RGB
  Layout layout = Layout::nchw_f32;
  /// float output is (pixel/255 - mean) / std, per channel; ImageNet's by default.
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> std{0.229F, 0.224F, 0.225F};
  Jitter jitter;    ///< after the flip
  float erase = 0;  ///< probability of torchvision's RandomErasing: zeros, after the normalisation
  Orient orient = Orient::stored;
  Colours colours = Colours::stored;

  std::uint32_t channels() const { return grey ? 1 : 3; }
  std::size_t sample_bytes() const {
    return std::size_t{width} * height * channels() * bytes_of_value(layout);
  }
  /// A stable text that names every choice above; kept in states and checkpoints.
  std::string to_text() const;
};

/// Of the validation set beside it: the centre of each picture, and nothing that chance decides.
Transform validation_of(const Transform& training);

/// `invalid` if something cannot be, with what can.
Result<void> check_transform(const Transform& transform);

Result<Augment> parse_augment(std::string_view text);
Result<Filter> parse_filter(std::string_view text);
Result<Layout> parse_layout(std::string_view text);
Result<Orient> parse_orient(std::string_view text);
Result<Colours> parse_colours(std::string_view text);
/// "B,C,S,H": brightness, contrast, saturation, hue; what is missing at the end is 0.
Result<Jitter> parse_jitter(std::string_view text);

struct SampleKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sample_id = 0;
};

struct Box {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
  bool operator==(const Box&) const = default;
};

enum class Adjust : std::uint8_t { brightness, contrast, saturation, hue };
/// The four in the order in which they are done; a factor of 1 (or a hue of 0) does nothing.
struct DrawnJitter {
  std::array<Adjust, 4> order{Adjust::brightness, Adjust::contrast, Adjust::saturation,
                              Adjust::hue};
  double brightness = 1, contrast = 1, saturation = 1, hue = 0;
};

/// In OpenCV's units: hue of 0–180, the others of 0–255.
struct HlsShift {
  int hue = 0, lightness = 0, saturation = 0;
};

/// What one sample gets. `source` is the part of the picture that is resized to `scaled_*`;
/// `crop_*` is where the output lies in the resized picture (it may leave it: zero padding).
struct Params {
  Box source;
  std::uint32_t scaled_width = 0, scaled_height = 0;
  std::int32_t crop_left = 0, crop_top = 0;
  bool flip = false;
  /// Of the resized picture onto itself, before the crop: row by row, x' = m0 x + m1 y + m2, ….
  std::optional<std::array<float, 6>> warp{};
  std::optional<HlsShift> hls{};
  std::optional<DrawnJitter> jitter{};
  Box erase{};  ///< of the output; of width 0: none
};

/// Of a picture of that size, once it is turned as `transform.orient` says.
Params params_for(const Transform& transform, const SampleKey& key, std::uint32_t width,
                  std::uint32_t height);

}  // namespace headrace
