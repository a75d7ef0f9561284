// SPDX-License-Identifier: Apache-2.0
/// \file What a folder stands on: the disk of this machine, or a mount, and of what kind.
///
/// Functions; thread-safe. A mount that is missing looks like an empty folder, or like a stale
/// copy: a job that says what it expects finds out before it reads.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace::local {

enum class Medium { local, lustre, nfs, fuse, memory, overlay, other_network };

struct Standing {
  Medium medium = Medium::local;
  std::string type;         ///< as the kernel names it: "ext4", "fuse.s3fs", "nfs4"; "" = unknown
  std::string mount_point;  ///< "" = unknown
  std::string source;       ///< what is mounted there: "fs-1.efs.eu-west-1.amazonaws.com:/"

  /// "NFS (nfs4), fs-1:/ mounted at /data"
  std::string to_string() const;
};

std::string_view to_string(Medium medium);

/// Of the path, or of the nearest folder above that exists.
Result<Standing> standing_of(const std::string& path);

/// The same, if it is what is `expected`: "lustre", "nfs", "fuse" or "local", which is what needs
/// no network.
///  * `not_found`  the path stands on something else, which is named
///  * `invalid`    `expected` is none of the four
Result<Standing> check_standing(const std::string& path, std::string_view expected);

/// One line of /proc/self/mountinfo.
struct MountLine {
  unsigned major = 0;
  unsigned minor = 0;
  std::string mount_point;
  std::string type;
  std::string source;
};
/// False if it is none.
bool parse_mount_line(std::string_view line, MountLine& mount);
/// Of the mounts of a device in /proc/self/mountinfo, the one that `path` (absolute, without links)
/// lies in; the last of equals lies on top. Empty if the device is not among them.
MountLine mount_of(std::istream& mountinfo, unsigned major, unsigned minor, std::string_view path);
/// By statfs's f_type, and where that does not tell (FUSE's, for one, is one for all), by name.
Medium medium_of(std::uint64_t magic, std::string_view type);

}  // namespace headrace::local
