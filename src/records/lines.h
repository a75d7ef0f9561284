// SPDX-License-Identifier: Apache-2.0
/// \file The lines of a ByteSource, without their ends. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/records/byte_source.h"

namespace headrace {

class LineReader {
 public:
  static constexpr std::size_t kMaxLine = 1U << 20U;

  /// The source must outlive the reader.
  explicit LineReader(ByteSource& source) : source_(source) {}

  ///  * a line      without "\n" or "\r\n"; valid until the next call
  ///  * nothing     the source ended; a last line without "\n" was given before
  ///  * an error    the source failed, or a line is longer than kMaxLine (`invalid`)
  Result<std::optional<std::string_view>> next();

  /// Of the line that was given last, from 1.
  std::uint64_t number() const { return number_; }

 private:
  ByteSource& source_;
  Bytes piece_;
  std::size_t at_ = 0;
  std::string joined_;  ///< a line that lies in several pieces
  std::uint64_t number_ = 0;
};

}  // namespace headrace
