// SPDX-License-Identifier: Apache-2.0
#include "headrace/batch/host_block.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace headrace {

namespace {

constexpr std::size_t kAlign = 64;

using CudaRegister = int (*)(void*, std::size_t, unsigned);
using CudaUnregister = int (*)(void*);

/// The driver's functions, looked up once the library is there.
struct Cuda {
  CudaRegister add = nullptr;
  CudaUnregister remove = nullptr;
};

Cuda cuda() {
  Cuda found;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return found;
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for
  found.add = reinterpret_cast<CudaRegister>(dlsym(library, "cuMemHostRegister_v2"));
  found.remove = reinterpret_cast<CudaUnregister>(dlsym(library, "cuMemHostUnregister"));
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  return found;
}

// Looked up again, so that the driver needs no state; a library that is loaded stays.
int cuda_pin(void* memory, std::size_t bytes) {
  constexpr unsigned kPortable = 1;  // for all contexts of the process
  const CudaRegister add = cuda().add;
  return add != nullptr ? add(memory, bytes, kPortable) : -1;
}

int cuda_unpin(void* memory) {
  const CudaUnregister remove = cuda().remove;
  return remove != nullptr ? remove(memory) : -1;
}

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

PinDriver cuda_pin_driver() {
  const Cuda found = cuda();
  if (found.add == nullptr || found.remove == nullptr) return {};
  return {cuda_pin, cuda_unpin};
}

void FreeHostBlock::operator()(std::byte* memory) const {
  if (pinned == Pinned::registered) driver.unpin(memory);
  if (pinned == Pinned::locked) munlock(memory, bytes);
  std::free(memory);  // NOLINT: from aligned_alloc
}

Result<HostBlock> HostBlock::make(std::size_t bytes, Pinning pin, const PinDriver& driver) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t align = pin == Pinning::yes ? page : kAlign;
  const std::size_t whole = rounded_up(bytes, align);
  HostBlock block;
  block.memory_ = {static_cast<std::byte*>(std::aligned_alloc(align, whole)), FreeHostBlock{whole}};
  if (!block) {
    return Error(Code::exhausted, fmt::format("no memory for a batch of {} bytes", bytes),
                 "smaller batches, fewer batches ahead, or uint8 pixels");
  }
  if (pin == Pinning::no) return block;
  auto& free = block.memory_.get_deleter();
  if (driver.pin != nullptr && driver.pin(block.data(), whole) == 0) {
    free.pinned = Pinned::registered;
    free.driver = driver;
  } else if (mlock(block.data(), whole) == 0) {
    free.pinned = Pinned::locked;
  } else {
    return Error(Code::exhausted,
                 fmt::format("{} bytes of a batch cannot be pinned: {}", whole,
                             std::generic_category().message(errno)),
                 "raise `ulimit -l`, or do not ask for pinned batches");
  }
  return block;
}

}  // namespace headrace
