// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace headrace {

Result<Nanos> process_age() {
  std::ifstream file("/proc/self/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in parentheses, which may hold spaces; the start is
  // field 22, in clock ticks since boot (proc(5)).
  const auto name_end = stat.rfind(')');
  std::istringstream fields(name_end == std::string::npos ? "" : stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t ticks = 0;
  timespec now{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    return Error(Code::unavailable, "/proc/self/stat does not tell the start of this process");
  }
  const Nanos tick = Nanos(std::chrono::seconds(1)) / ::sysconf(_SC_CLK_TCK);
  const Nanos start = tick * ticks;
  return std::chrono::seconds(now.tv_sec) + Nanos(now.tv_nsec) - start;
}

Result<std::string> program_folder() {
  std::error_code problem;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return errno_error(problem.value(), "readlink").at("/proc/self/exe");
  return program.parent_path().string();
}

}  // namespace headrace
