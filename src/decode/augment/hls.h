// SPDX-License-Identifier: Apache-2.0
/// \file What MXNet's default augmenter does with random_h, random_l and random_s: the picture in
/// OpenCV's 8-bit HLS (hue of 0–180), each shifted and kept within its bounds, and back.
///
/// Thread-safe: a function of its arguments. OpenCV's own result depends on the processor; this is
/// its plain form, within 1 of it.
#pragma once

#include "headrace/decode/augment/canvas.h"
#include "headrace/decode/transform.h"

namespace headrace {

void shift_hls(const HlsShift& shift, Canvas& canvas);

}  // namespace headrace
