// SPDX-License-Identifier: Apache-2.0
/// \file Lists many folders at once.
///
/// One listing with delimiter finds the folders, then each is listed to its full depth, several
/// at a time: a server answers one listing page by page, so width is the only way to be fast. One
/// long folder is taken in pieces where the store can (split_listing.h).
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/storage/store.h"

namespace headrace {

/// A page of 1,000 keys takes S3 about 0.1 s: 1.5 million keys are asked for in 5 s.
inline constexpr unsigned kListers = 32;

using ObjectSink = std::function<Result<void>(std::span<const ObjectInfo>)>;

/// The folders directly below a prefix: with the prefix and their '/', sorted, no repeats. The
/// objects beside them go to `beside`.
Result<std::vector<std::string>> find_folders(Store& store, const std::string& prefix,
                                              const std::stop_token& stop,
                                              const ObjectSink& beside);

/// Lists every folder to its full depth on at most `listers` threads. `sink` is called from these
/// threads, several at a time. The first error ends the others and is returned.
Result<void> list_folders(Store& store, std::span<const std::string> folders, unsigned listers,
                          const std::stop_token& stop, const ObjectSink& sink);

/// All below a prefix, as above: by its folders, or in pieces if thousands of objects lie in it.
Result<void> list_below(Store& store, const std::string& prefix, unsigned listers,
                        const std::stop_token& stop, const ObjectSink& sink);

}  // namespace headrace
