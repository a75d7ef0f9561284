// SPDX-License-Identifier: Apache-2.0
/// \file What a program sees when something fails under the mount: an errno for each code.
/// Pure; thread-safe.
#pragma once

#include "headrace/base/error.h"

namespace headrace::mount {

/// The table of MOUNT.md. A server that is overloaded or gone is EIO and never ENOENT: a file that
/// is there must not look as if it were not.
int errno_code(Code code);

}  // namespace headrace::mount
