// SPDX-License-Identifier: Apache-2.0
/// \file The hashes that an MDS index gives of whole files. Thread-safe.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace::mds {

struct HashCheck {
  std::string wrong;    ///< the algorithm whose digits differ; empty if none does
  std::string unknown;  ///< one that we do not compute; empty if there is none
};

/// Reads the whole object, once; `fresh`: past every cache. Names are those of Python's hashlib and
/// xxhash: sha1, xxh64, ….
Result<HashCheck> check_hashes(Store& store, const ObjectInfo& object,
                               const std::map<std::string, std::string>& hashes,
                               const std::stop_token& stop, bool fresh = false);

}  // namespace headrace::mds
