// SPDX-License-Identifier: Apache-2.0
/// \file The folder that a mount covers: may it be covered, what was left there, how it is freed.
///
/// Functions; thread-safe.
#pragma once

#include <string>

#include "headrace/base/result.h"
#include "headrace/base/uri.h"

namespace headrace::mount {

/// The type that our mounts have in /proc/self/mountinfo.
inline constexpr const char* kType = "fuse.headrace";

enum class Covered {
  no,
  live,   ///< a mount of ours that answers
  stale,  ///< one whose process was killed: "Transport endpoint is not connected"
  other,  ///< another file system is mounted there
};

/// `not_found` or `invalid` if there is no such folder.
Result<Covered> look(const std::string& folder);

/// Empty if this machine and user can mount; else why not, and what to do.
std::string obstacle();

/// Makes `folder` ready to be covered: frees it from a mount that was left behind.
/// Returns whether there was one.
///  * invalid: no folder, not empty, covered already, or it lies in `source` (a mount that holds
///    itself would wait for itself)
Result<bool> prepare(const std::string& folder, const Uri& source);

/// Frees the folder from a mount of ours, live or left behind. `invalid` if there is none.
Result<void> unmount(const std::string& folder);

}  // namespace headrace::mount
