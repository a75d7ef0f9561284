// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "headrace/base/random.h"

namespace headrace {

namespace {

constexpr std::uint64_t kAugmentStream = 0x61756731;  // so that no other use of the key meets this
constexpr std::uint32_t kPad = 4;

std::string_view name(Augment augment) {
  switch (augment) {
    case Augment::random_resized_crop:
      return "random_resized_crop";
    case Augment::center_crop:
      return "center_crop";
    case Augment::pad_crop:
      return "pad_crop";
    case Augment::none:
      return "none";
  }
  return "none";
}

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

/// e^x for |x| < 1 by its series, which only adds and multiplies: every libm gives another last
/// bit, and a box must not depend on the machine.
double exponential(double x) {
  double sum = 1.0;
  for (int n = 20; n > 0; --n) sum = 1.0 + x / n * sum;
  return sum;
}

/// Python's round: halves go to the even number.
std::int64_t round_half_even(double value) { return std::llrint(value); }

Box random_box(Random& random, std::uint32_t width, std::uint32_t height) {
  constexpr double kSmallest = 0.08;
  constexpr double kLogRatio = 0.28768207245178092744;  // ln(4/3)
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(kSmallest, 1.0);
    const double aspect = exponential(random.uniform(-kLogRatio, kLogRatio));
    const auto w = round_half_even(std::sqrt(target * aspect));
    const auto h = round_half_even(std::sqrt(target / aspect));
    if (w <= 0 || w > width || h <= 0 || h > height) continue;
    Box box{0, 0, static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(h)};
    box.top = static_cast<std::uint32_t>(random.below(height - box.height + 1));
    box.left = static_cast<std::uint32_t>(random.below(width - box.width + 1));
    return box;
  }
  Box box{0, 0, width, height};
  constexpr double kNarrow = 3.0 / 4.0;
  constexpr double kWide = 4.0 / 3.0;
  const double ratio = static_cast<double>(width) / height;
  if (ratio < kNarrow) {
    box.height = static_cast<std::uint32_t>(round_half_even(width / kNarrow));
  } else if (ratio > kWide) {
    box.width = static_cast<std::uint32_t>(round_half_even(height * kWide));
  }
  box.height = std::clamp(box.height, 1U, height);
  box.width = std::clamp(box.width, 1U, width);
  box.left = (width - box.width) / 2;
  box.top = (height - box.height) / 2;
  return box;
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

}  // namespace

std::string Transform::to_text() const {
  return fmt::format(
      "augment={} size={}x{} resize={} filter={} order={} channels={} layout={} "
      "mean={},{},{} std={},{},{}",
      name(augment), width, height, resize, name_in(kFilters, filter),
      pass_order == PassOrder::pillow12 ? "pillow12" : "pillow13", channels(),
      name_in(kLayouts, layout), mean[0], mean[1], mean[2], std[0], std[1], std[2]);
}

Result<Augment> parse_augment(std::string_view text) {
  for (const auto augment :
       {Augment::random_resized_crop, Augment::center_crop, Augment::pad_crop, Augment::none}) {
    if (text == name(augment)) return augment;
  }
  return Error(Code::invalid, fmt::format("no augmentation is called \"{}\"", text),
               "random_resized_crop, center_crop, pad_crop or none");
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
      params.scaled_width = params.scaled_height = transform.resize;
      if (width < height) {
        params.scaled_height = follow(transform.resize, height, width);
      } else {
        params.scaled_width = follow(transform.resize, width, height);
      }
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
    case Augment::none:
      break;
  }
  return params;
}

}  // namespace headrace
