// SPDX-License-Identifier: Apache-2.0
/// \file Opens and reads regular files. Functions; thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/base/unique_fd.h"

namespace headrace::local {

/// For reading. A folder is `not_found`; what is neither file nor folder is `invalid`, at once.
Result<UniqueFd> open_file(const std::string& path, struct stat& status);

/// What a failed read means. ENODATA is how FSx for Lustre says that it could not load a file.
Error read_error(int error_number);

/// Fills `into` from `offset` on; less only where the file ends. The stop token is looked at
/// between pieces of 4 MiB.
Result<std::size_t> read_some(int fd, std::span<std::byte> into, std::uint64_t offset,
                              const std::stop_token& stop);

/// What offsets, lengths and addresses are multiples of with O_DIRECT: no disk asks for more.
inline constexpr std::size_t kDirectBlock = 4096;

/// Memory for O_DIRECT.
struct AlignedBuffer {
  Buffer buffer;
  std::span<std::byte> aligned;  ///< in it, at a multiple of kDirectBlock
};
/// `exhausted` if there is no memory.
Result<AlignedBuffer> allocate_aligned(std::size_t bytes);

/// False where the file system has no O_DIRECT.
bool set_direct(int fd, bool direct);

}  // namespace headrace::local
