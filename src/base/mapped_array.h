// SPDX-License-Identifier: Apache-2.0
/// \file Memory that the kernel can take back: arrays in an unlinked file, mapped shared.
///
/// Indexes live here, so that private memory does not grow with the data set. Not thread-safe
/// while it grows; any number of readers afterwards. The file lies in $HEADRACE_TMPDIR, else
/// $TMPDIR, else /var/tmp (not /tmp, which is often memory), and is gone when the process ends,
/// however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace {

class MappedFile {
 public:
  static Result<MappedFile> temporary();

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Makes room for at least `bytes`; what `data()` gave before is invalid then.
  Result<void> reserve(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// A growing array of trivially copyable T in a MappedFile. Spans are valid until the next append.
template <class T>
requires std::is_trivially_copyable_v<T>
class MappedArray {
 public:
  static Result<MappedArray> make() {
    HEADRACE_TRY(auto file, MappedFile::temporary());
    MappedArray array;
    array.file_ = std::move(file);
    return array;
  }

  Result<void> append(const T& value) { return append(std::span<const T>(&value, 1)); }
  Result<void> append(std::span<const T> values) {
    HEADRACE_TRY(file_.reserve((size_ + values.size()) * sizeof(T)));
    for (const T& value : values) begin()[size_++] = value;
    return {};
  }
  std::span<T> span() { return {begin(), size_}; }
  std::span<const T> span() const { return {begin(), size_}; }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t index) const { return begin()[index]; }

 private:
  T* begin() const { return static_cast<T*>(static_cast<void*>(file_.data())); }

  MappedFile file_;
  std::size_t size_ = 0;
};

}  // namespace headrace
