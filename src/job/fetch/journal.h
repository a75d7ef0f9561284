// SPDX-License-Identifier: Apache-2.0
/// \file Which objects lie whole and durable in a folder; and the lock on it (FETCH.md).
///
/// Thread-safe once opened.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/mutex.h"
#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"
#include "headrace/storage/store.h"

namespace headrace::fetching {

/// The object's line.
Hash128 identity(std::string_view key, const Pin& pin);

class Journal {
 public:
  /// True if something was fetched there before.
  static bool is_in(const std::string& folder);

  /// Makes the folder, takes its lock, removes what a killed fetch left, reads the lines.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder);

  bool has(const Hash128& identity) const;
  /// The object's file, of `bytes`, has its name. Its line is written when it is durable: every so
  /// many files or bytes, and at `finish`.
  ///  * cancelled   told to stop while the disk writes
  Result<void> add(const Hash128& identity, std::uint64_t bytes, const std::stop_token& stop);
  /// Who is told to stop does not wait for the disk: what is not known to be durable is remembered
  /// as long as this machine runs, which is as long as memory holds it.
  Result<void> finish(const std::stop_token& stop);

  /// For an object on its way.
  std::string part_path(std::uint64_t number) const;

 private:
  Journal(std::string folder, UniqueFd lock, UniqueFd lines, std::vector<Hash128> known);
  Result<void> leave();
  Result<void> write_lines(std::vector<Hash128> fresh, const std::stop_token& stop);

  const std::string folder_;
  const UniqueFd lock_;
  const UniqueFd lines_;
  const std::vector<Hash128> known_;  ///< sorted; with those that another one left
  Mutex mutex_;
  std::vector<Hash128> waiting_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t waiting_bytes_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace::fetching
