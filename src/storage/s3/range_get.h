// SPDX-License-Identifier: Apache-2.0
/// \file A GET of one range, or of a whole object: its bytes go where the derived class says.
///
/// Not thread-safe: driven by one loop. Every answer is held against the pin, its length and its
/// Content-Range against the range, and the bytes against the checksum that is told of them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "headrace/storage/s3/call.h"
#include "headrace/storage/s3/checksum.h"

namespace headrace::s3 {

/// Where a read lies in its object.
struct Span {
  ByteRange range;
  bool whole = false;  // of the whole object, as far as known: no Range header
  std::optional<std::uint64_t> length() const {
    if (range.length == ByteRange::kToEnd) return std::nullopt;
    return range.length;
  }
};

/// What an answer told, and what its bytes have.
struct ToldChecksum {
  std::string told;
  BodyChecksum own;
};

class RangeGet : public Call {
 public:
  RangeGet(Service& service, const std::string& key, const std::string& place, Span span,
           std::optional<Pin> pin);

 protected:
  /// An attempt begins.
  virtual void began() {}
  void first_byte(Nanos latency) override;
  /// Memory for `length` bytes: asked for once the length is known.
  virtual Result<std::span<std::byte>> room(std::uint64_t length) = 0;

  std::uint64_t filled() const { return filled_; }
  const Pin& found() const { return found_; }
  /// A checksum that came with a range and is not the range's: perhaps of the whole object.
  const std::optional<ToldChecksum>& of_object() const { return of_object_; }
  /// The object was empty, or ended where the range begins.
  bool nothing() const { return nothing_; }

 private:
  void restart() override;
  std::span<std::byte> place(const Answer& answer) override;
  Result<void> take(Answer& answer, ByteSpan bytes) override;
  Result<void> check(Answer& answer) override;
  bool forgive(Answer& answer, const ErrorAnswer& error) override;
  Result<void> compare(const Answer& answer);
  Result<void> check_sum(const Answer& answer);
  std::uint64_t to_skip(const Answer& answer) const;
  ByteSpan skip(ByteSpan bytes);

  const Span span_;
  const std::optional<Pin> pin_;
  std::span<std::byte> into_;
  std::uint64_t filled_ = 0;
  std::uint64_t skipped_ = 0;
  std::string spill_;
  std::optional<BodyChecksum> checksum_;
  std::optional<ToldChecksum> of_object_;
  Pin found_;
  bool compared_ = false;
  bool nothing_ = false;
};

}  // namespace headrace::s3
