// SPDX-License-Identifier: Apache-2.0
/// \file Bytes that outlive the call that made them: a shared, immutable slice; and the buffer
/// that they are filled in first.
///
/// `Bytes` is immutable, cheap to copy (one counter) and safe to share between threads; slices
/// share the block. `Buffer` is not thread-safe. Code that only looks takes
/// `std::span<const std::byte>` instead.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace headrace {

using ByteSpan = std::span<const std::byte>;

inline ByteSpan as_byte_span(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view as_text(ByteSpan bytes) {
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

class Bytes {
 public:
  Bytes() = default;
  /// Takes part in owning whatever holds `view`: a Buffer, a mapping, a cache segment.
  Bytes(std::shared_ptr<const void> owner, ByteSpan view) : owner_(std::move(owner)), view_(view) {}

  static Bytes copy_of(ByteSpan source) {
    if (source.empty()) return {};
    auto block = std::make_shared_for_overwrite<std::byte[]>(source.size());
    std::memcpy(block.get(), source.data(), source.size());
    const ByteSpan view{block.get(), source.size()};
    return {std::move(block), view};
  }
  static Bytes copy_of(std::string_view text) { return copy_of(as_byte_span(text)); }

  const std::byte* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  ByteSpan span() const { return view_; }
  std::string_view text() const { return as_text(view_); }

  /// REQUIRES: offset + length <= size()
  Bytes slice(std::size_t offset, std::size_t length) const {
    return {owner_, view_.subspan(offset, length)};
  }

 private:
  std::shared_ptr<const void> owner_;
  ByteSpan view_;
};

/// Memory with one owner; `freeze` turns its first bytes into shared Bytes.
class Buffer {
 public:
  Buffer() = default;
  /// Uninitialised.
  explicit Buffer(std::size_t size)
      : Buffer(std::make_shared_for_overwrite<std::byte[]>(size), size) {}
  /// Memory of `size` bytes that goes where its deleter says.
  Buffer(std::shared_ptr<std::byte[]> memory, std::size_t size)
      : block_(std::move(memory)), size_(size) {}

  std::byte* data() { return block_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {block_.get(), size_}; }

  /// REQUIRES: length <= size(). The buffer is empty afterwards.
  Bytes freeze(std::size_t length) && {
    const ByteSpan view{block_.get(), length};
    size_ = 0;
    return {std::move(block_), view};
  }

 private:
  std::shared_ptr<std::byte[]> block_;
  std::size_t size_ = 0;
};

}  // namespace headrace
