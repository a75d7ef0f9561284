// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/comparison.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace headrace::advisor {

Machine this_machine() {
  Machine machine;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; machine.cpu.empty() && std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) machine.cpu = line.substr(line.find(':') + 2);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    machine.processors = static_cast<unsigned>(CPU_COUNT(&set));
  }
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) {
    machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  }
  utsname name{};
  if (uname(&name) == 0) machine.system = fmt::format("{} {}", name.sysname, name.release);
  return machine;
}

std::vector<std::string> disagreements(const std::vector<Row>& rows) {
  std::vector<std::string> found;
  const Row* first = nullptr;
  for (const auto& row : rows) {
    if (row.status != Status::ok) continue;
    if (first == nullptr) first = &row;
    if (row.figures->set_digest != first->figures->set_digest) {
      found.push_back(fmt::format("set digests differ: {} of {} has {}, {} of {} has {}",
                                  first->mode, first->uri, first->figures->set_digest, row.mode,
                                  row.uri, row.figures->set_digest));
      continue;  // the order cannot agree then
    }
    const Row* same = nullptr;
    for (const auto& other : rows) {
      if (other.status == Status::ok && other.uri == row.uri) {
        same = &other;
        break;
      }
    }
    const auto& a = same->figures->order_digests;
    const auto& b = row.figures->order_digests;
    for (std::size_t epoch = 0; epoch < std::min(a.size(), b.size()); ++epoch) {
      if (a[epoch] == b[epoch]) continue;
      found.push_back(fmt::format("order digests of {} differ in epoch {}: {} has {}, {} has {}",
                                  row.uri, epoch, same->mode, a[epoch], row.mode, b[epoch]));
      break;
    }
  }
  return found;
}

}  // namespace headrace::advisor
