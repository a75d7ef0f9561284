// SPDX-License-Identifier: Apache-2.0
/// \file torchvision's ColorJitter on 8-bit pictures, bit for bit what it gives on Pillow images:
/// ImageEnhance's Brightness, Contrast and Color, and the turn of the hue in Pillow's HSV.
///
/// Thread-safe: functions of their arguments. Source of the arithmetic: Pillow's libImaging/Blend.c
/// and Convert.c (MIT-CMU).
#pragma once

#include "headrace/decode/augment/canvas.h"
#include "headrace/decode/transform.h"

namespace headrace {

/// All four, in the drawn order.
void jitter_colours(const DrawnJitter& jitter, Canvas& canvas);

}  // namespace headrace
