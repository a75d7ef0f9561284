// SPDX-License-Identifier: Apache-2.0
/// \file SageMaker's manifests as data sets: a list of objects, or references with labels.
///
/// A manifest (a JSON array) names objects below a prefix: what they are is found from their
/// content, as if nothing else were there. An augmented manifest (JSON lines) names a picture and
/// its label a line; it is a list, as `.lst` is. Several augmented manifests are one set.
#pragma once

#include <memory>
#include <string>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes may be the beginning of either.
bool is_manifest(ByteSpan first_bytes);

/// How manifests are found.
ContainerKind manifest_kind();

/// The manifests are the objects in the root that begin so.
///  * `not_found`   there is none; or an object that one names, with the number of the line
///  * `invalid`     a line that cannot be read, with its number; a reference outside the root
Result<std::unique_ptr<Dataset>> open_manifest(Store& store, const Context& context,
                                               const OpenOptions& options);

/// The set of a manifest that is an array. `name` is for messages.
Result<std::unique_ptr<Dataset>> open_array_manifest(Store& store, const Context& context,
                                                     const OpenOptions& options,
                                                     const std::string& name,
                                                     std::string_view text);

}  // namespace headrace
