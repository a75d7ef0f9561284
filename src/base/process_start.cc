// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/process_start.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace headrace {
namespace {

double boot_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Field 22 of /proc/self/stat; counted from behind the name, which may hold spaces and brackets.
double start_seconds() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return boot_seconds();
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  constexpr int kStartAfterName = 20;
  for (int i = 0; i < kStartAfterName; ++i) fields >> field;
  return std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

double seconds_since_process_start() {
  static const double start = start_seconds();
  return boot_seconds() - start;
}

}  // namespace headrace
