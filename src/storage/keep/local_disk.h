// SPDX-License-Identifier: Apache-2.0
/// \file The cache's disk as it is: a directory of the local file system. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/keep/disk.h"

namespace headrace::keep {

struct LocalDisk {
  std::unique_ptr<Disk> disk;
  bool in_memory = false;  ///< tmpfs: what is kept there is taken from the job's memory
};

/// By the type that statfs gives: one whose disk is elsewhere.
bool is_network_file_system(long type);

/// Makes the directory (mode 0700) and the folder of this version in it.
///  * denied: it belongs to another user, or others may enter it
///  * invalid: not a directory; a network file system, whose locks cannot be relied on
///  * not_found: with `make` false, and it is not there
Result<LocalDisk> open_local_disk(const std::string& dir, bool make = true);

}  // namespace headrace::keep
