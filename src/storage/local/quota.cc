// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/quota.h"

#include <linux/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace headrace::local {
namespace {

std::uint64_t left_of(int fd, int type, unsigned id) {
  if_dqblk quota{};
#ifdef SYS_quotactl_fd  // Linux 5.14; older ones need the device, which a container does not see
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what syscall is
  if (::syscall(SYS_quotactl_fd, fd, QCMD(Q_GETQUOTA, type), id, &quota) == 0)
    return quota_left(quota.dqb_bhardlimit, quota.dqb_curspace);
#endif
  return quota_left(0, 0);
}

}  // namespace

std::uint64_t quota_left(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return quota_left(0, 0);
  return std::min(left_of(fd, USRQUOTA, ::geteuid()), left_of(fd, GRPQUOTA, status.st_gid));
}

}  // namespace headrace::local
