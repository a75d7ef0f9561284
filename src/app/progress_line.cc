// SPDX-License-Identifier: Apache-2.0
#include "progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace headrace::app {

ProgressLine::ProgressLine() : enabled_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{}", text);
}

}  // namespace headrace::app
