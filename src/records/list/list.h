// SPDX-License-Identifier: Apache-2.0
/// \file A set whose samples and labels stand in a list: MXNet's `.lst`, `path,label` as CSV,
/// or SageMaker's augmented manifest (manifest/FORMAT.md).
///
/// Samples are numbered by key bytes, not by line; a path that stands twice is two samples, in
/// the order of lines. Labels that are no numbers (CSV only) are class names, sorted by bytes.
#pragma once

#include <memory>
#include <span>

#include "headrace/records/dataset.h"

namespace headrace {

/// `options.list` is a file, else a key of the store.
///  * `invalid`     a line that cannot be read, with its number and field; an unknown class
///  * `not_found`   the list; or an object that it names, with the number of the line
Result<std::unique_ptr<Dataset>> open_list(Store& store, const Context& context,
                                           const OpenOptions& options);

/// The same of several lists in the store, as one; labels may be numbers of a class list beside
/// the first.
Result<std::unique_ptr<Dataset>> open_lists(Store& store, const Context& context,
                                            const OpenOptions& options,
                                            std::span<const ObjectInfo> lists);

}  // namespace headrace
