// SPDX-License-Identifier: Apache-2.0
/// \file Mode fastfile's mount: `headrace mount` as a child process, which ends with its job.
///
/// A process of its own, as on SageMaker, where the platform mounts: the loader and the file
/// system share nothing but the kernel. The child ends when its standard input does, so it goes
/// with this process however that ends, kill -9 included. Used by one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace {

struct MountProcessOptions {
  std::string uri;
  std::string folder;  ///< exists and is empty; the child removes it if this process dies
  std::string medium;  ///< the origin is as slow as that; empty: as it is
  double scale = 1;
  int counts = -1;  ///< of SharedMetrics: what the mount asks of the origin
};

class MountProcess {
 public:
  /// Waits until the folder answers.
  ///  * what the child says stands in the way: denied, not_found, …
  ///  * not_found: there is no program headrace to start
  static Result<std::unique_ptr<MountProcess>> start(const MountProcessOptions& options,
                                                     const std::stop_token& stop);
  MountProcess(const MountProcess&) = delete;
  MountProcess& operator=(const MountProcess&) = delete;
  /// Unmounts and waits for the child's end.
  ~MountProcess();

 private:
  MountProcess(std::string folder, pid_t child, UniqueFd input, UniqueFd output, UniqueFd words)
      : folder_(std::move(folder)),
        child_(child),
        input_(std::move(input)),
        output_(std::move(output)),
        words_(std::move(words)) {}

  Result<void> wait_until_ready(const std::stop_token& stop);
  Error last_words() const;
  void end();

  const std::string folder_;
  pid_t child_;
  UniqueFd input_;   // its end is the child's
  UniqueFd output_;  // says "mounted"
  UniqueFd words_;   // the child's stderr, a file in memory
};

/// The program headrace: $HEADRACE_PROGRAM, else beside this program, else on PATH.
Result<std::string> find_headrace();

}  // namespace headrace
