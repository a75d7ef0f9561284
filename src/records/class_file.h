// SPDX-License-Identifier: Apache-2.0
/// \file The class list that `pack` leaves beside a container, and labels that it numbers.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace {

/// "a/train-00001-of-00004.rec" → "a/train.classes.txt"; "a/train.rec" likewise.
std::string class_file_key(const std::string& container_key);

/// The list beside the container: in `class_file_key`, or in `classes.txt` in the same folder.
/// Empty if there is neither.
Result<std::vector<std::string>> read_class_file(Store& store, const std::string& container_key,
                                                 const std::stop_token& stop);

/// Labels of a container in the numbers of the training set. Immutable: thread-safe.
class ClassLabels {
 public:
  /// `own` is the container's list, `authority` the training set's; either may be empty. With
  /// both, a class that the authority lacks is `invalid` and named.
  static Result<ClassLabels> make(std::vector<std::string> own,
                                  const std::vector<std::string>& authority, Notices& notices);

  const std::vector<std::string>& names() const { return names_; }
  /// Renumbers a single label. `corrupt` if it is no class of the container's list.
  Result<void> map(std::vector<float>& labels) const;

 private:
  std::vector<std::string> names_;
  std::vector<float> numbers_;  ///< own number → the authority's; empty if they are the same
};

}  // namespace headrace
