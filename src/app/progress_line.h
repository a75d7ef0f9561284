// SPDX-License-Identifier: Apache-2.0
/// \file One line on the terminal that is written over; nothing where stderr is not a terminal.
/// Not thread-safe.
#pragma once

#include <string>

#include "headrace/base/human.h"

namespace headrace::app {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  bool enabled() const { return enabled_; }
  void show(const std::string& text);
  /// Removes the line; what is printed next begins at the left.
  void clear();

 private:
  const bool enabled_;
  bool shown_ = false;
};

}  // namespace headrace::app
