// SPDX-License-Identifier: Apache-2.0
/// \file One line of a SageMaker augmented manifest: a JSON object with references and attributes.
///
/// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/records/list/rows.h"

namespace headrace::manifest {

/// True if the line is a JSON object with a reference, an attribute whose name ends in "-ref".
bool is_augmented_line(std::string_view line);

/// What names an object in a manifest, as a key below a root.
class Root {
 public:
  /// `uri` is what the root is called in the manifest: "s3://bucket/prefix", "/data"; a relative
  /// path is that of the working directory.
  explicit Root(std::string uri);

  /// "s3://bucket/prefix/a/b" → "a/b". What is no URI and no absolute path is a key already.
  ///  * `invalid`   it lies elsewhere, or leaves the root by ".."
  Result<std::string> key_of(std::string_view reference) const;

 private:
  std::string root_;  ///< ends in '/'
};

/// The path is the key of the picture; the labels are the other attribute's: a number, a text, a
/// list of numbers, or a list of numbers in a text, as Pipe mode has it.
///
/// `attributes` is SageMaker's AttributeNames, in order: the first whose name ends in "-ref" is the
/// picture, the first that does not is the label. Empty: the line must have one of each, beside
/// what ends in "-metadata".
///  * `invalid`   no JSON, an attribute that is missing or no label, a reference that lies
///  elsewhere
Result<list::Row> parse_line(std::string_view line, const std::vector<std::string>& attributes,
                             const Root& root);

}  // namespace headrace::manifest
