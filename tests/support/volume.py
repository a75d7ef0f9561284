# SPDX-License-Identifier: Apache-2.0
"""A small volume of its own on a loop device. Needs root; `available()` says whether it can be made."""

import contextlib
import ctypes
import os
import pathlib
import subprocess


def run(*command) -> str:
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def volume(work: pathlib.Path, megabytes: int, *options: str):
    """Mounts a new ext4 of that size; gives the folder. `options` go to mkfs."""
    image, folder = work / "volume.img", work / "volume"
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    run("mkfs.ext4", "-q", "-m", "0", *options, image)
    folder.mkdir()
    run("mount", "-o", "loop", image, folder)
    try:
        yield folder
    finally:
        run("umount", folder)


def available(work: pathlib.Path) -> bool:
    if os.geteuid() != 0:
        return False
    try:
        probe = work / "probe"
        probe.mkdir()
        with volume(probe, 8):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


class Dqblk(ctypes.Structure):
    """struct if_dqblk of linux/quota.h"""

    _fields_ = [(name, ctypes.c_uint64) for name in (
        "bhardlimit", "bsoftlimit", "curspace", "ihardlimit", "isoftlimit", "curinodes", "btime",
        "itime")] + [("valid", ctypes.c_uint32)]


def set_quota(folder: pathlib.Path, uid: int, megabytes: int) -> None:
    """A hard limit on the bytes of a user on the volume of the folder."""
    quotactl_fd, set_quota_command, block_limits = 443, 0x800008, 1
    quota = Dqblk(bhardlimit=megabytes * 1024, valid=block_limits)
    fd = os.open(folder, os.O_RDONLY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(quotactl_fd, fd, set_quota_command << 8, uid, ctypes.byref(quota)) != 0:
            raise OSError(ctypes.get_errno(), "quotactl_fd")
    finally:
        os.close(fd)
