// SPDX-License-Identifier: Apache-2.0
/// \file A folder of a store, seen as only those of its objects that were named.
///
/// Thread-safe, as the store below it.
#pragma once

#include <memory>
#include <string>

#include "headrace/records/object_index.h"
#include "headrace/storage/store.h"

namespace headrace::manifest {

/// Keys of `objects` are relative to `folder`, which is "" or ends in '/'. `list` gives those
/// only; all else passes through, with the folder in front of the key. `below` must outlive it.
std::unique_ptr<Store> make_listed_store(Store& below, std::string folder, ObjectIndex objects);

}  // namespace headrace::manifest
