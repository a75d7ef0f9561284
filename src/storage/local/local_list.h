// SPDX-License-Identifier: Apache-2.0
/// \file Lists a tree of files in pages, in memory that does not grow with the number of files.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "headrace/base/notices.h"
#include "headrace/storage/store.h"

namespace headrace::local {

/// As Store::list. Files that vanish meanwhile are left out; a folder that cannot be read is the
/// error, with its name. A root that does not exist is `not_found`, a prefix that does not, empty.
Result<void> list_tree(const std::string& root, const ListRequest& request, Notices& notices,
                       const std::stop_token& stop,
                       const std::function<Result<bool>(ListPage&&)>& sink);

}  // namespace headrace::local
