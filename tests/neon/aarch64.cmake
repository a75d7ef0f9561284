# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler; the libraries lie in HEADRACE_SYSROOT, unpacked by scripts/test-neon.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH $ENV{HEADRACE_SYSROOT} $ENV{HEADRACE_SYSROOT}/usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
add_compile_options("SHELL:-isystem $ENV{HEADRACE_SYSROOT}/usr/include"
  "SHELL:-isystem $ENV{HEADRACE_SYSROOT}/usr/include/aarch64-linux-gnu")
add_link_options(-L$ENV{HEADRACE_SYSROOT}/usr/lib/aarch64-linux-gnu
  -Wl,-rpath-link,$ENV{HEADRACE_SYSROOT}/usr/lib/aarch64-linux-gnu)
