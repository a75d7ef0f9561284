// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "headrace/base/random.h"
#include "headrace/decode/draws.h"

namespace headrace {

namespace {

constexpr std::uint64_t kAugmentStream = 0x61756731;  // so that no other use of the key meets this
constexpr std::uint32_t kPad = 4;
constexpr float kMostJitter = 100;

constexpr std::array kAugments{std::pair{Augment::random_resized_crop, "random_resized_crop"},
                               std::pair{Augment::center_crop, "center_crop"},
                               std::pair{Augment::pad_crop, "pad_crop"},
                               std::pair{Augment::none, "none"},
                               std::pair{Augment::crop, "crop"},
                               std::pair{Augment::crop_color, "crop_color"},
                               std::pair{Augment::crop_color_transform, "crop_color_transform"}};

constexpr std::array kOrients{std::pair{Orient::stored, "stored"}, std::pair{Orient::exif, "exif"}};

constexpr std::array kColours{std::pair{Colours::stored, "stored"},
                              std::pair{Colours::srgb, "srgb"}};

constexpr std::array kLayouts{
    std::pair{Layout::nhwc_u8, "nhwc_u8"}, std::pair{Layout::nchw_u8, "nchw_u8"},
    std::pair{Layout::nchw_f32, "nchw_f32"}, std::pair{Layout::nchw_f16, "nchw_f16"},
    std::pair{Layout::nchw_bf16, "nchw_bf16"}};

constexpr std::array kFilters{
    std::pair{Filter::nearest, "nearest"},   std::pair{Filter::box, "box"},
    std::pair{Filter::bilinear, "bilinear"}, std::pair{Filter::hamming, "hamming"},
    std::pair{Filter::bicubic, "bicubic"},   std::pair{Filter::lanczos, "lanczos"}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto* const found = std::find_if(table.begin(), table.end(),
                                         [&](const auto& entry) { return entry.first == value; });
  return found->second;
}

template <class Table>
auto parse_in(const Table& table, std::string_view what, std::string_view text)
    -> Result<decltype(table[0].first)> {
  std::string names;
  for (const auto& [value, known] : table) {
    if (text == known) return value;
    names += names.empty() ? known : std::string(", ") + known;
  }
  return Error(Code::invalid, fmt::format("no {} is called \"{}\"", what, text), names);
}

/// Where a crop of `size` lies in `scaled`: negative if the picture is smaller and is padded.
std::int32_t center(std::uint32_t scaled, std::uint32_t size) {
  if (size > scaled) return -static_cast<std::int32_t>((size - scaled) / 2);
  return static_cast<std::int32_t>(round_half_even((scaled - size) / 2.0));
}

/// The longer side when the shorter becomes `shorter_to`.
std::uint32_t follow(std::uint32_t shorter_to, std::uint32_t longer, std::uint32_t shorter) {
  return static_cast<std::uint32_t>(std::uint64_t{shorter_to} * longer / shorter);
}

/// torchvision's Resize, and MXNet's; 0 leaves the picture as it is.
void scale_shorter_side(std::uint32_t to, std::uint32_t width, std::uint32_t height,
                        Params& params) {
  params.scaled_width = width;
  params.scaled_height = height;
  if (to == 0) return;
  params.scaled_width = params.scaled_height = to;
  if (width < height) {
    params.scaled_height = follow(to, height, width);
  } else {
    params.scaled_width = follow(to, width, height);
  }
}

/// Where a random crop begins. A picture that is too small for it has one place (and is refused).
std::int32_t anywhere(Random& random, std::uint32_t scaled, std::uint32_t size) {
  if (size > scaled) return center(scaled, size);
  return static_cast<std::int32_t>(random.below(std::uint64_t{scaled} - size + 1));
}

}  // namespace

std::string Transform::to_text() const {
  std::string text = fmt::format(
      "augment={} size={}x{} resize={} filter={} order={} channels={} layout={} "
      "mean={},{},{} std={},{},{}",
      name_in(kAugments, augment), width, height, resize, name_in(kFilters, filter),
      pass_order == PassOrder::pillow12 ? "pillow12" : "pillow13", channels(),
      name_in(kLayouts, layout), mean[0], mean[1], mean[2], std[0], std[1], std[2]);
  // What came later is named only where it is used, so that older states still compare.
  if (jitter.any()) {
    text += fmt::format(" jitter={},{},{},{}", jitter.brightness, jitter.contrast,
                        jitter.saturation, jitter.hue);
  }
  if (erase > 0) text += fmt::format(" erase={}", erase);
  if (orient != Orient::stored) text += fmt::format(" orient={}", name_in(kOrients, orient));
  if (colours != Colours::stored) text += fmt::format(" colours={}", name_in(kColours, colours));
  return text;
}

Transform validation_of(const Transform& training) {
  Transform transform = training;
  transform.jitter = {};
  transform.erase = 0;
  switch (training.augment) {
    case Augment::pad_crop:
    case Augment::none:
      transform.augment = Augment::none;
      break;
    case Augment::random_resized_crop:
    case Augment::center_crop:
    case Augment::crop:
    case Augment::crop_color:
    case Augment::crop_color_transform:
      transform.augment = Augment::center_crop;
      break;
  }
  return transform;
}

Result<void> check_transform(const Transform& transform) {
  const Jitter& jitter = transform.jitter;
  const auto in = [](float value, float most) { return value >= 0 && value <= most; };
  if (transform.width == 0 || transform.height == 0) {
    return Error(Code::invalid, "a sample of 0 pixels", "give a width and a height");
  }
  if (!in(jitter.brightness, kMostJitter) || !in(jitter.contrast, kMostJitter) ||
      !in(jitter.saturation, kMostJitter) || !in(jitter.hue, 0.5F)) {
    return Error(Code::invalid,
                 fmt::format("jitter {},{},{},{} is out of bounds", jitter.brightness,
                             jitter.contrast, jitter.saturation, jitter.hue),
                 "brightness, contrast and saturation from 0 to 100, hue from 0 to 0.5");
  }
  if (!in(transform.erase, 1.0F)) {
    return Error(Code::invalid, fmt::format("erase {} is no probability", transform.erase),
                 "a number from 0 to 1");
  }
  return {};
}

Result<Augment> parse_augment(std::string_view text) {
  return parse_in(kAugments, "augmentation", text);
}

Result<Orient> parse_orient(std::string_view text) { return parse_in(kOrients, "orient", text); }

Result<Colours> parse_colours(std::string_view text) {
  return parse_in(kColours, "choice of colours", text);
}

Result<Jitter> parse_jitter(std::string_view text) {
  Jitter jitter;
  const std::array fields{&jitter.brightness, &jitter.contrast, &jitter.saturation, &jitter.hue};
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t count = 0;
  for (; count < fields.size(); ++count) {
    const auto parsed = std::from_chars(at, end, *fields[count]);
    if (parsed.ec != std::errc()) break;
    at = parsed.ptr;
    if (at == end || *at != ',') {
      ++count;
      break;
    }
    ++at;
  }
  Transform transform;
  transform.jitter = jitter;
  if (count == 0 || at != end || text.back() == ',' || !check_transform(transform)) {
    return Error(Code::invalid,
                 fmt::format("jitter \"{}\" is not brightness,contrast,saturation,hue", text),
                 "such as 0.4,0.4,0.4,0.1; hue at most 0.5");
  }
  return jitter;
}

Result<Filter> parse_filter(std::string_view text) { return parse_in(kFilters, "filter", text); }

Result<Layout> parse_layout(std::string_view text) { return parse_in(kLayouts, "layout", text); }

Params params_for(const Transform& transform, const SampleKey& key, std::uint32_t width,
                  std::uint32_t height) {
  Random random(mix_key(key.seed, kAugmentStream, key.epoch, key.sample_id));
  Params params{{0, 0, width, height}, transform.width, transform.height, 0, 0, false};
  switch (transform.augment) {
    case Augment::random_resized_crop:
      params.source = random_box(random, width, height);
      params.flip = (random.next() >> 63U) != 0;
      break;
    case Augment::center_crop:
      scale_shorter_side(transform.resize, width, height, params);
      params.crop_left = center(params.scaled_width, transform.width);
      params.crop_top = center(params.scaled_height, transform.height);
      break;
    case Augment::pad_crop:
      params.crop_top =
          static_cast<std::int32_t>(random.below(2 * kPad + 1)) - static_cast<std::int32_t>(kPad);
      params.crop_left =
          static_cast<std::int32_t>(random.below(2 * kPad + 1)) - static_cast<std::int32_t>(kPad);
      params.flip = (random.next() >> 63U) != 0;
      break;
    case Augment::crop_color_transform:
    case Augment::crop_color:
    case Augment::crop:
      scale_shorter_side(transform.resize, width, height, params);
      params.crop_top = anywhere(random, params.scaled_height, transform.height);
      params.crop_left = anywhere(random, params.scaled_width, transform.width);
      params.flip = (random.next() >> 63U) != 0;
      if (transform.augment == Augment::crop) break;
      params.hls = draw_hls(key);
      if (transform.augment == Augment::crop_color) break;
      params.warp = draw_warp(key, params.scaled_width, params.scaled_height);
      break;
    case Augment::none:
      break;
  }
  if (transform.jitter.any()) params.jitter = draw_jitter(transform.jitter, key);
  if (transform.erase > 0) {
    params.erase = draw_erasing(transform.erase, key, transform.width, transform.height);
  }
  return params;
}

}  // namespace headrace
