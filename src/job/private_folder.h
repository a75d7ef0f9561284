// SPDX-License-Identifier: Apache-2.0
/// \file A folder that only this user can enter and that goes with its owner. Not thread-safe.
///
/// In $HEADRACE_TMPDIR, else $TMPDIR, else /var/tmp (not /tmp, which is often memory).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

class PrivateFolder {
 public:
  static Result<std::unique_ptr<PrivateFolder>> make(std::string_view purpose);

  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  /// Removes the folder and all in it.
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace headrace
