// SPDX-License-Identifier: Apache-2.0
/// \file Labelled folders: `root/cat/7.jpg`, one object a sample. The Dataset to copy.
///
/// Class = first path part below the root; deeper folders belong to it. Classes are sorted by
/// bytes and numbered from 0; the label is that number. See FORMAT.md for what is left out.
#pragma once

#include <memory>

#include "headrace/records/dataset.h"

namespace headrace {

/// Lists the classes, several at a time.
///  * `invalid`: an object in the root, an archived object, an unknown class
///  * `not_found`: no sample at all
Result<std::unique_ptr<Dataset>> open_folder(Store& store, const Context& context,
                                             const OpenOptions& options);

/// False for what file managers and editors leave: `.DS_Store`, `._7.jpg`, `Thumbs.db`,
/// everything in folders such as `.ipynb_checkpoints`.
bool is_sample_key(std::string_view key);

}  // namespace headrace
