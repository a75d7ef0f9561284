// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/mapped_array.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "headrace/base/scratch_file.h"

namespace headrace {

Result<MappedFile> MappedFile::temporary() {
  MappedFile file;
  HEADRACE_TRY(file.fd_, make_scratch_fd());
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) ::munmap(data_, capacity_);
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
}

Result<void> MappedFile::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return {};
  constexpr std::size_t kPage = 65536;
  const std::size_t wanted = (std::max(bytes, capacity_ * 2) + kPage - 1) / kPage * kPage;
  // posix_fallocate, not ftruncate: a full disk must be an error here, not a SIGBUS later.
  if (const int error = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(wanted)); error != 0) {
    return scratch_error(error, "grow the scratch file");
  }
  void* moved = data_ == nullptr
                    ? ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0)
                    : ::mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return errno_error(errno, "map the scratch file");
  data_ = static_cast<std::byte*>(moved);
  capacity_ = wanted;
  return {};
}

}  // namespace headrace
