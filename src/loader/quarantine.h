// SPDX-License-Identifier: Apache-2.0
/// \file The list of bad samples, as JSON lines that several processes may append to.
///
/// Not thread-safe: one writer a process. Each line is one write to a file opened for appending,
/// so lines of different ranks do not mix:
///
///     {"uri":"s3://b/train","name":"cat/7.jpg","object":"cat/7.jpg","record":0,"sample":41,
///      "epoch":0,"position":7,"offset":0,"bytes":5321,"code":"corrupt","reason":"..."}
///
/// `bytes` are those that were looked at: of a damaged stretch of a container, which may be the
/// rest of a large file, the first 4,096 at most. How long it is stands in the reason.
/// `headrace inspect --replay FILE` reads them again.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"
#include "headrace/records/dataset.h"

namespace headrace {

class Quarantine {
 public:
  /// Nothing is written if `path` is empty.
  static Result<Quarantine> open(const std::string& path);

  bool enabled() const { return fd_.valid(); }

  struct Entry {
    std::string uri;  ///< of the data set
    std::string name;
    Extent extent;
    std::uint64_t record = 0;  ///< within the object
    std::uint64_t sample = 0, epoch = 0, position = 0;
  };
  Result<void> add(const Entry& entry, const Error& why);

 private:
  std::string path_;
  UniqueFd fd_;
};

}  // namespace headrace
