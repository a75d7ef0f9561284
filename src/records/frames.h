// SPDX-License-Identifier: Apache-2.0
/// \file Where the frames of a set are read. A function.
#pragma once

#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

/// `store`, on which the set was opened or what wraps it; unless the set had to be unpacked.
inline Store& frames_of(const Dataset& set, Store& store) {
  return set.frame_store() == nullptr ? store : *set.frame_store();
}

}  // namespace headrace
