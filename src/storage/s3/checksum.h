// SPDX-License-Identifier: Apache-2.0
/// \file The checksum of a body that arrives in pieces, as S3 tells it in x-amz-checksum-*.
///
/// Not thread-safe. CRC32 (zlib's), CRC32C and CRC64NVME, which S3 computes for new objects itself;
/// SHA-1 and SHA-256 are not checked, since they would cost more than the read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace::s3 {

class BodyChecksum {
 public:
  enum class Kind { crc32, crc32c, crc64nvme };

  /// "crc32c" of "x-amz-checksum-crc32c"; nothing for those that are not checked.
  static std::optional<Kind> kind_of(std::string_view name);

  explicit BodyChecksum(Kind kind);
  void add(ByteSpan bytes);
  /// As if `next`, of the same kind and so many bytes, had been added.
  void append(const BodyChecksum& next, std::uint64_t bytes);
  /// As S3 writes it: base64 of the big-endian value.
  std::string value() const;

 private:
  Kind kind_;
  std::uint64_t state_;
};

}  // namespace headrace::s3
