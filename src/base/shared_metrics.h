// SPDX-License-Identifier: Apache-2.0
/// \file Metrics in memory that two processes share: a child counts, its parent reads at once.
///
/// Thread-safe, as Metrics is. There is no name that could be left behind: the parent makes it and
/// hands the descriptor down; both are of the same build, which the size is looked at for.
#pragma once

#include <memory>

#include "headrace/base/metrics.h"
#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace {

class SharedMetrics {
 public:
  static Result<SharedMetrics> make();
  /// In the child: takes the descriptor over. `invalid` if it is something else.
  static Result<std::shared_ptr<Metrics>> attach(int fd);

  const std::shared_ptr<Metrics>& metrics() const { return metrics_; }
  int fd() const { return fd_.get(); }

 private:
  SharedMetrics(UniqueFd fd, std::shared_ptr<Metrics> metrics)
      : fd_(std::move(fd)), metrics_(std::move(metrics)) {}

  UniqueFd fd_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace headrace
