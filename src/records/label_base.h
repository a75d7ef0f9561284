// SPDX-License-Identifier: Apache-2.0
/// \file What the class numbers in a TFRecord count from.
#pragma once

namespace headrace {

enum class LabelBase {
  automatic,  ///< one if the first record has `image/class/text` or `…/synset`, else zero
  zero,
  one,  ///< ImageNet's converters: 1 is the first class, 0 is none
};

}  // namespace headrace
