// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/shown.h"

#include <algorithm>

#include "headrace/decode/augment/warp.h"

namespace headrace {
namespace {

struct Range {
  std::uint32_t begin = 0, size = 0, at = 0;
};

/// What of the resized picture an output of `size` from `crop` on shows, and where in the output:
/// the crop may leave the picture, on either side.
Range overlap(std::int64_t crop, std::uint32_t size, std::uint32_t scaled) {
  const auto begin = std::max<std::int64_t>(crop, 0);
  const auto end = std::min<std::int64_t>(crop + size, scaled);
  if (end <= begin) return {};
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin),
          static_cast<std::uint32_t>(begin - crop)};
}

}  // namespace

Shown shown_of(const Transform& transform, const Params& params) {
  const auto x = overlap(params.crop_left, transform.width, params.scaled_width);
  const auto y = overlap(params.crop_top, transform.height, params.scaled_height);
  // A flip is of the output, its padding included.
  const auto left = params.flip ? transform.width - x.at - x.size : x.at;
  return {{x.begin, y.begin, x.size, y.size}, {left, y.at, x.size, y.size}};
}

Box part_of(const Transform& transform, const Params& params) {
  if (!params.warp) return shown_of(transform, params).part;
  const Box window{static_cast<std::uint32_t>(params.crop_left),
                   static_cast<std::uint32_t>(params.crop_top), transform.width, transform.height};
  return Warp(*params.warp).source_of(window, params.scaled_width, params.scaled_height);
}

}  // namespace headrace
