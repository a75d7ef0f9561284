// SPDX-License-Identifier: Apache-2.0
/// \file Which part of a picture a sample shows. Pure functions; thread-safe.
#pragma once

#include "headrace/decode/transform.h"

namespace headrace {

/// Which part of the resized picture the output shows, and where in it.
struct Shown {
  Box part, window;
  bool nothing() const { return part.width == 0 || part.height == 0; }
};
Shown shown_of(const Transform& transform, const Params& params);

/// The part of the resized picture that is made: what is shown, or what a warp takes it from.
/// Of width or height 0: none.
Box part_of(const Transform& transform, const Params& params);

}  // namespace headrace
