// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/standing.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <istream>
#include <system_error>
#include <utility>
#include <vector>

namespace headrace::local {
namespace {

// statfs(2). Lustre's is in no header of the system's.
constexpr std::uint64_t kLustre = 0x0bd00bd0;
constexpr std::uint64_t kNfs = 0x6969;
constexpr std::uint64_t kFuse = 0x65735546;
constexpr std::uint64_t kTmpfs = 0x01021994;
constexpr std::uint64_t kRamfs = 0x858458f6;
constexpr std::uint64_t kOverlay = 0x794c7630;
constexpr std::array<std::uint64_t, 5> kNetworks = {
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x00c36400,  // Ceph
    0x01021997,  // 9P
    0x47504653,  // GPFS
};

/// Words between blanks.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    if (end != 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

/// The kernel writes blanks and the like as "\040".
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 3, value, 8).ptr == &text[i + 1] + 3) {
      plain += static_cast<char>(value);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::string_view to_string(Medium medium) {
  switch (medium) {
    case Medium::local:
      return "local disk";
    case Medium::lustre:
      return "Lustre";
    case Medium::nfs:
      return "NFS";
    case Medium::fuse:
      return "FUSE";
    case Medium::memory:
      return "memory";
    case Medium::overlay:
      return "overlay (a container's own layer)";
    case Medium::other_network:
      break;
  }
  return "network file system";
}

std::string Standing::to_string() const {
  std::string text(local::to_string(medium));
  if (!type.empty()) text += fmt::format(" ({})", type);
  if (!mount_point.empty()) text += fmt::format(", {} mounted at {}", source, mount_point);
  return text;
}

bool parse_mount_line(std::string_view line, MountLine& mount) {
  // 36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw
  const auto words = words_of(line);
  constexpr std::size_t kFixed = 6;
  std::size_t dash = kFixed;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 2 >= words.size()) return false;
  const std::string_view device = words[2];
  const auto colon = device.find(':');
  if (colon == std::string_view::npos) return false;
  const char* const end = device.data() + device.size();
  if (std::from_chars(device.data(), device.data() + colon, mount.major).ec != std::errc() ||
      std::from_chars(device.data() + colon + 1, end, mount.minor).ec != std::errc()) {
    return false;
  }
  mount.mount_point = unescape(words[4]);
  mount.type = words[dash + 1];
  mount.source = unescape(words[dash + 2]);
  return true;
}

MountLine mount_of(std::istream& mountinfo, unsigned major, unsigned minor, std::string_view path) {
  MountLine found;
  std::size_t most = 0;
  for (std::string line; std::getline(mountinfo, line);) {
    MountLine mount;
    if (!parse_mount_line(line, mount) || mount.major != major || mount.minor != minor) continue;
    const std::string& point = mount.mount_point;
    const bool around = path.starts_with(point) && (point.ends_with('/') || path == point ||
                                                    path.substr(point.size()).starts_with('/'));
    const std::size_t fits = around ? point.size() : 0;  // one that is bound elsewhere, too
    if (fits < most) continue;
    most = fits;
    found = std::move(mount);
  }
  return found;
}

Medium medium_of(std::uint64_t magic, std::string_view type) {
  if (magic == kLustre || type == "lustre") return Medium::lustre;
  if (magic == kNfs || type == "nfs" || type == "nfs4") return Medium::nfs;
  if (magic == kFuse || type.starts_with("fuse")) return Medium::fuse;
  if (magic == kTmpfs || magic == kRamfs) return Medium::memory;
  if (magic == kOverlay) return Medium::overlay;
  for (const auto network : kNetworks)
    if (magic == network) return Medium::other_network;
  return Medium::local;
}

Result<Standing> standing_of(const std::string& path) {
  std::filesystem::path there = path.empty() ? "." : path;
  struct statfs file_system {};
  while (::statfs(there.c_str(), &file_system) != 0) {
    if (errno == EINTR) continue;
    if (errno != ENOENT || !there.has_relative_path()) return errno_error(errno, "statfs").at(path);
    there = there.has_parent_path() ? there.parent_path() : ".";
  }
  struct stat status {};
  if (::stat(there.c_str(), &status) != 0) return errno_error(errno, "stat").at(path);
  std::error_code unknown;
  const auto where = std::filesystem::canonical(there, unknown);
  std::ifstream mounts("/proc/self/mountinfo");
  MountLine mount = mount_of(mounts, major(status.st_dev), minor(status.st_dev), where.string());
  Standing standing;
  standing.type = std::move(mount.type);
  standing.mount_point = std::move(mount.mount_point);
  standing.source = std::move(mount.source);
  standing.medium =
      medium_of(static_cast<std::uint64_t>(file_system.f_type) & 0xffffffffU, standing.type);
  return standing;
}

Result<Standing> check_standing(const std::string& path, std::string_view expected) {
  HEADRACE_TRY(Standing found, standing_of(path));
  const Medium medium = found.medium;
  bool right = false;
  if (expected == "lustre") {
    right = medium == Medium::lustre;
  } else if (expected == "nfs") {
    right = medium == Medium::nfs;
  } else if (expected == "fuse") {
    right = medium == Medium::fuse;
  } else if (expected == "local") {
    right = medium == Medium::local || medium == Medium::memory || medium == Medium::overlay;
  } else {
    return Error(Code::invalid, fmt::format("unknown medium \"{}\"", expected),
                 "one of lustre, nfs, fuse, local");
  }
  if (right) return found;
  return Error(Code::not_found,
               fmt::format("expected {}, and this stands on {}", expected, found.to_string()),
               expected == "local" ? "copy the data here, or leave out --expect"
                                   : "mount it first: what lies in the folder below a missing "
                                     "mount is not the data")
      .at(path);
}

}  // namespace headrace::local
