// SPDX-License-Identifier: Apache-2.0
/// \file A listing answered from an index, as Store::list answers one: by folder, too, without a
/// walk over what lies in the folders. A function.
#pragma once

#include <functional>
#include <stop_token>

#include "headrace/records/object_index.h"
#include "headrace/storage/store.h"

namespace headrace {

Result<void> list_index(const ObjectIndex& objects, const ListRequest& request,
                        const std::stop_token& stop,
                        const std::function<Result<bool>(ListPage&&)>& sink);

}  // namespace headrace
