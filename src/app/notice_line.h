// SPDX-License-Identifier: Apache-2.0
/// \file A notice as people read it. Pure.
#pragma once

#include <fmt/format.h>

#include <string>

#include "headrace/base/notices.h"
#include "headrace/base/printable.h"

namespace headrace::app {

/// How often is said where it was more than once.
inline std::string notice_line(const Notice& notice) {
  if (notice.count == 1) return printable(notice.text);
  return fmt::format("{} ({} times)", printable(notice.text), notice.count);
}

}  // namespace headrace::app
