// SPDX-License-Identifier: Apache-2.0
/// \file The inside of a set as a Store: `cat/7.jpg` is the picture of a sample, whatever container
/// holds it. So whatever works on stores works on samples: the mount, fetch, another set.
///
/// Thread-safe. Read-only; `head` and `list` answer from memory. A picture that lies in its frame
/// as it is, as nearly all do, is read by its range of the container; else the whole frame is read
/// and parsed, on the thread of the store below. Checksums of the container were checked when the
/// samples were named (names.h). The pin of a picture is its container's, with its own size: a
/// container that was replaced is `changed` for all of them.
///
///     HEADRACE_TRY(auto names, name_samples(*store, *set, {}, context));
///     const auto inside = make_set_store(*store, *set, std::move(names));
#pragma once

#include <memory>

#include "headrace/records/dataset.h"
#include "headrace/records/inside/names.h"
#include "headrace/storage/store.h"

namespace headrace {

/// `below`, where the set was opened, and the set must outlive it.
std::unique_ptr<Store> make_set_store(Store& below, const Dataset& set, SampleNames names);

}  // namespace headrace
