// SPDX-License-Identifier: Apache-2.0
/// \file What an encoded picture is, from its first bytes. Pure; nothing is decoded.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace {

/// "jpeg", "png", "webp", "gif", "bmp", "tiff"; "empty" without bytes; "unknown".
std::string_view picture_kind(ByteSpan bytes);

/// What files of that kind are called: "jpg", "png", …; "bin" if it is none.
std::string_view picture_suffix(ByteSpan bytes);

/// True for names that end as pictures do, in any case; or in ".bin".
bool is_picture_name(std::string_view name);

/// Empty if nothing is wrong as far as can be told without decoding: a known kind, which is there
/// to its end (picture_end.h).
std::string picture_problem(ByteSpan bytes);

}  // namespace headrace
