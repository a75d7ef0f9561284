// SPDX-License-Identifier: Apache-2.0
/// \file Whether an encoded picture is there to its end, told from its structure: nothing is
/// decoded.
///
/// Pure functions; any bytes may come in.
#pragma once

#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace {

// Empty if nothing is wrong; else why the picture cannot be whole.

/// Walks from segment to segment and through the entropy-coded data to the end mark: one inside a
/// segment, such as that of an EXIF thumbnail, does not count.
std::string_view jpeg_end_problem(ByteSpan bytes);
/// Walks from chunk to chunk to IEND. Checksums are the decoder's task.
std::string_view png_end_problem(ByteSpan bytes);
std::string_view webp_end_problem(ByteSpan bytes);

}  // namespace headrace
