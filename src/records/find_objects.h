// SPDX-License-Identifier: Apache-2.0
/// \file The objects that a list names: few are asked for one by one, many are listed. A function.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>

#include "headrace/records/object_index.h"
#include "headrace/storage/store.h"

namespace headrace {

/// What is there of `count` keys, which are sorted by bytes; and maybe others beside them.
/// `invalid` if one of them is archived.
Result<ObjectIndex> find_objects(Store& store, std::size_t count,
                                 const std::function<std::string_view(std::size_t)>& key_at,
                                 const std::stop_token& stop);

}  // namespace headrace
