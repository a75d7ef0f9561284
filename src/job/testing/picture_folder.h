// SPDX-License-Identifier: Apache-2.0
/// \file A labelled folder of small real pictures in a temporary place.
///
/// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::testing {

class PictureFolder {
 public:
  /// `count` pictures in three classes, "c0", "c1", "c2", made of those in `vectors`/jpeg.
  PictureFolder(std::size_t count, const std::string& vectors);

  std::string path() const { return folder_.string(); }
  /// The file of the i-th picture that was written.
  std::string file(std::size_t index) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace headrace::testing
