// SPDX-License-Identifier: Apache-2.0
/// \file Side entries in a folder, one file each, checksummed; shared by any number of processes.
///
/// Thread-safe. A file appears whole (temporary name, rename) and a damaged one counts as absent.
/// Format of a file: side_key.h.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/side_store.h"

namespace headrace {

/// The folder is made by the first `put`; what else lies in it is left alone.
std::unique_ptr<SideStore> make_dir_side_store(const std::string& folder);

}  // namespace headrace
