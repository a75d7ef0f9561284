// SPDX-License-Identifier: Apache-2.0
/// \file Which bytes of an encoded picture its sample needs, told before any of them is read: for
/// who would fetch no others. A pure function; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/decode/decoder.h"
#include "headrace/decode/transform.h"

namespace headrace {

/// In order, and apart. Empty: all of the picture is needed, since the index is none for it, or
/// since the sample shows nothing of it. `outline` is what Decoder::outline gave when the same
/// bytes were decoded, for whatever transform.
std::vector<jpeg::ByteRun> bytes_needed(const PictureOutline& outline, std::size_t picture_bytes,
                                        const Transform& transform, const SampleKey& key,
                                        ByteSpan index, const Hash128& payload);

}  // namespace headrace
