/* SPDX-License-Identifier: Apache-2.0
 * A disk that hangs: with LD_PRELOAD, every call of a process that goes to a file below $HANG_BELOW
 * waits as long as the file $HANG_WHILE is there, and every syncfs as long as $HANG_SYNC_WHILE is
 * there, which it says by making a file with ".seen" behind that name. The calls can be killed, as
 * those of a real disk usually can. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void wait_while(const char* flag) {
  while (access(flag, F_OK) == 0) {
    const struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
  }
}

static void wait_below(const char* path) {
  const char* below = getenv("HANG_BELOW");
  const char* flag = getenv("HANG_WHILE");
  if (below == NULL || flag == NULL || strncmp(path, below, strlen(below)) != 0) return;
  wait_while(flag);
}

static void wait_for_fd(int fd) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  wait_below(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread(int fd, void* into, size_t size, off_t at) {
  wait_for_fd(fd);
  return REAL(pread)(fd, into, size, at);
}
ssize_t pread64(int fd, void* into, size_t size, off_t at) { return pread(fd, into, size, at); }
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  wait_for_fd(fd);
  return REAL(pwrite)(fd, from, size, at);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off_t at) {
  return pwrite(fd, from, size, at);
}
int openat(int fd, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  wait_for_fd(fd);
  return REAL(openat)(fd, path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  wait_below(path);
  return REAL(open)(path, flags, mode);
}
int renameat(int from_fd, const char* from, int to_fd, const char* to) {
  wait_for_fd(from_fd);
  return REAL(renameat)(from_fd, from, to_fd, to);
}
int unlinkat(int fd, const char* path, int flags) {
  wait_for_fd(fd);
  return REAL(unlinkat)(fd, path, flags);
}
int syncfs(int fd) {
  const char* flag = getenv("HANG_SYNC_WHILE");
  if (flag != NULL) {
    char seen[4096];
    snprintf(seen, sizeof seen, "%s.seen", flag);
    const int made = REAL(open)(seen, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
    wait_while(flag);
  }
  return REAL(syncfs)(fd);
}
