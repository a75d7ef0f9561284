// SPDX-License-Identifier: Apache-2.0
/// \file What unpacking a compressed object found out, kept in a SideStore: the next job knows how
/// long the object is inside without unpacking it. Functions; thread-safe.
#pragma once

#include <optional>

#include "headrace/records/unpack/unpacked_store.h"
#include "headrace/storage/side_store.h"

namespace headrace {

struct KnownInside {
  Codec codec = Codec::gzip;
  Inside inside;
};

/// Nothing if it is not known, or no longer; `kept` may be null.
std::optional<KnownInside> known_inside(SideStore* kept, const Store& store,
                                        const ObjectInfo& object);
/// What cannot be kept is found out again, and nothing else is lost.
void keep_inside(SideStore* kept, const Store& store, const ObjectInfo& object,
                 const KnownInside& known);

}  // namespace headrace
