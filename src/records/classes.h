// SPDX-License-Identifier: Apache-2.0
/// \file Class names: the byte-sorted list, and how a set is held against the training set's.
///
/// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/base/result.h"

namespace headrace {

/// The list that numbers the labels: `authority` if there is one, else `found`, which is sorted.
/// A class that the authority lacks is `invalid` and named; one that the set lacks leaves the
/// notice "class-missing".
Result<std::vector<std::string>> settle_classes(std::vector<std::string> found,
                                                const std::vector<std::string>& authority,
                                                Notices& notices);

/// One name a line, as `classes.txt` has them.
std::string classes_to_text(const std::vector<std::string>& classes);
std::vector<std::string> classes_from_text(std::string_view text);

}  // namespace headrace
