// SPDX-License-Identifier: Apache-2.0
/// \file A real server of this process's own: a script that prints what it serves, then "ready",
/// and ends when its standard input does. Used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::testing {

class ServerProcess {
 public:
  /// `script run FOLDER`. Throws if it cannot be started.
  explicit ServerProcess(const std::string& script);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  /// The `export NAME=value` lines until "ready". Throws if the script ends before.
  std::map<std::string, std::string> wait_until_ready();
  /// A line on its standard input.
  void tell(const std::string& line);

 private:
  std::string read_line();

  const std::string script_;
  TemporaryFolder folder_;
  UniqueFd stdin_;
  UniqueFd stdout_;
  pid_t pid_ = 0;
};

}  // namespace headrace::testing
