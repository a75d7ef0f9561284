// SPDX-License-Identifier: Apache-2.0
/// \file What a conversion owes to a destination that is a folder of this machine: nobody else
/// writes the same set there meanwhile, folders that were made for nothing go again, and a full
/// volume is named.
///
/// The lock is one of open files (F_OFD_SETLK) on `.headrace/convert/KEY.lock`: it ends with the
/// process, however that ends, so what a killed one leaves is a file that locks nothing, and the
/// next call goes on. A whole conversion takes the whole file. Parts share its first byte, and
/// each takes one more by its number, so that they run side by side, and not with a whole one.
/// Where a file system has no locks, or the folder cannot be written, there is none, and the
/// conversion meets the trouble itself.
///
/// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace::converting {

class LocalDestination {
 public:
  /// Makes the folder. `part` is from 1; 0: the whole set.
  ///  * `invalid`   another process writes the set, or the same part of it, at this moment
  static Result<LocalDestination> take(const std::string& folder, const std::string& key,
                                       std::uint64_t part);
  LocalDestination(LocalDestination&&) = default;
  LocalDestination& operator=(LocalDestination&&) = delete;
  LocalDestination(const LocalDestination&) = delete;
  LocalDestination& operator=(const LocalDestination&) = delete;
  ~LocalDestination();

  /// What was made stays, even if it is empty.
  void keep() { made_.clear(); }
  /// If the disk was full: with its volume, and what of it the set needs.
  Error explain(Error error, std::uint64_t bytes_needed) const;

 private:
  explicit LocalDestination(std::string folder) : folder_(std::move(folder)) {}
  void make_folder(const std::filesystem::path& folder);
  Result<bool> try_lock(const std::string& path, std::uint64_t part);

  std::string folder_;
  std::vector<std::filesystem::path> made_;  ///< folders that were not there, outermost first
  std::string lock_path_;
  UniqueFd lock_;
};

}  // namespace headrace::converting
