// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/memory_left.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace headrace::keep {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The files of one version of control groups.
struct Version {
  const char* mounted_at;
  const char* most;
  const char* taken;
  const char* reclaimable;  ///< in memory.stat
};
constexpr Version kOne{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                       "total_inactive_file"};
constexpr Version kTwo{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// The number behind that word, or at the beginning; `otherwise` if there is none ("max").
std::uint64_t number_in(const std::string& file, std::string_view word, std::uint64_t otherwise) {
  std::ifstream stream(file);
  for (std::string seen; !word.empty() && seen != word;)
    if (!(stream >> seen)) return otherwise;
  std::uint64_t value = 0;
  return stream >> value ? value : otherwise;
}

std::uint64_t left_of(const std::string& folder, const Version& version) {
  const std::uint64_t most = number_in(folder + "/" + version.most, "", kUnlimited);
  if (most == kUnlimited) return kUnlimited;
  const std::uint64_t taken = number_in(folder + "/" + version.taken, "", 0);
  const std::uint64_t reclaimable = number_in(folder + "/memory.stat", version.reclaimable, 0);
  const std::uint64_t held = taken - std::min(taken, reclaimable);
  return most - std::min(most, held);
}

/// Of the group and all above it: any of them may be the one with the limit. A container sees its
/// own group at the top, whatever path it is told.
std::uint64_t left_up_from(const std::string& root, std::string path, const Version& version) {
  std::uint64_t left = kUnlimited;
  for (;;) {
    left = std::min(left, left_of(root + version.mounted_at + path, version));
    if (path.empty()) return left;
    path.erase(path.rfind('/'));
  }
}

/// Lines of /proc/self/cgroup: "4:memory:/job_7" of version 1, "0::/job_7" of version 2.
std::uint64_t groups_left(const std::string& root) {
  std::uint64_t left = kUnlimited;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    if (path == "/") path.clear();
    if (kinds == ",,") left = std::min(left, left_up_from(root, path, kTwo));
    if (kinds.find(",memory,") != std::string::npos)
      left = std::min(left, left_up_from(root, path, kOne));
  }
  return left;
}

}  // namespace

std::uint64_t memory_left(const std::string& root) {
  constexpr std::uint64_t kKiB = 1024;
  const std::uint64_t machine = number_in(root + "/proc/meminfo", "MemAvailable:", kUnlimited);
  return std::min(machine > kUnlimited / kKiB ? machine : machine * kKiB, groups_left(root));
}

}  // namespace headrace::keep
