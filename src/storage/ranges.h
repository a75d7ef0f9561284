// SPDX-License-Identifier: Apache-2.0
/// \file Small rules that every store shares: ranges, places, pins. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "headrace/storage/store.h"

namespace headrace {

/// "store/key", as errors name an object.
std::string object_place(std::string_view store, std::string_view key);

/// The range with its true length; `invalid` if it leaves an object of `size` bytes.
Result<ByteRange> resolve(const ByteRange& range, std::uint64_t size);

/// A key that only marks a folder: ends in '/' and holds nothing.
bool is_folder_marker(std::string_view key, std::uint64_t size);

/// The ordinary outcome of an object that was replaced while a job reads it.
Error changed_error(const Pin& wanted, const Pin& found);

/// True if `found` can be the pinned version: ETags decide if both have one, else versions, else
/// modification time and size.
bool same_version(const Pin& wanted, const Pin& found);

}  // namespace headrace
