// SPDX-License-Identifier: Apache-2.0
/// \file Protocol Buffers on the wire: the fields of one message, in the order in which they stand.
///
/// Views into the message; nothing is copied. Enough for tf.Example and aialgs.data.Record without
/// a generator and a library at run time (docs/DEPENDENCIES.md). Groups are stepped over, as every
/// reader does that does not know them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::wire {

enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Type type = Type::varint;
  std::uint64_t value = 0;  ///< varint, fixed64, fixed32
  ByteSpan bytes;           ///< bytes

  bool is(std::uint32_t n, Type t) const { return number == n && type == t; }
};

/// Not thread-safe. The message must outlive it and what it gives.
class Reader {
 public:
  explicit Reader(ByteSpan message) : rest_(message) {}

  ///  * a field
  ///  * nothing      the message ended cleanly
  ///  * `corrupt`    it is none
  Result<std::optional<Field>> next();

 private:
  friend Result<bool> append_varints(const Field& field, std::vector<std::uint64_t>& out);

  Result<std::uint64_t> varint();
  Result<std::uint64_t> fixed(std::size_t bytes);
  Result<void> skip_group(std::uint32_t number);
  Result<Field> content(std::uint32_t number, std::uint64_t type);

  ByteSpan rest_;
};

/// Hands every field of a message to `use`, which gives Result<void>; its error ends it.
template <class Use>
Result<void> each_field(ByteSpan message, Use use) {
  Reader reader(message);
  while (true) {
    HEADRACE_TRY(const auto field, reader.next());
    if (!field) return {};
    HEADRACE_TRY(use(*field));
  }
}

/// As Reader, for the beginning of a message of `length` bytes: to tell what a file holds by its
/// first bytes. The last field may be cut off: then `bytes` is what is there of it. `value` is the
/// length of a field of type bytes. Groups are wrong.
class Prefix {
 public:
  Prefix(ByteSpan beginning, std::uint64_t length) : rest_(beginning), left_(length) {}

  /// The next field; nothing at the end of the bytes, or where they are no message.
  std::optional<Field> next();
  /// True if what was seen is no message.
  bool wrong() const { return wrong_; }

 private:
  std::optional<std::uint64_t> varint();
  void take(std::uint64_t bytes);

  ByteSpan rest_;
  std::uint64_t left_;  ///< of the message, counted from rest_'s begin
  bool wrong_ = false;
};

// A repeated number may stand alone, packed, or both by turns: all are the same list. These append
// what one field holds of it. False: its type fits neither, so it is an unknown field.
Result<bool> append_varints(const Field& field, std::vector<std::uint64_t>& out);
Result<bool> append_floats(const Field& field, std::vector<float>& out);
Result<bool> append_doubles(const Field& field, std::vector<double>& out);

// Writing.
void append_varint(std::vector<std::byte>& out, std::uint64_t value);
void append_tag(std::vector<std::byte>& out, std::uint32_t number, Type type);
void append_bytes(std::vector<std::byte>& out, std::uint32_t number, ByteSpan bytes);
inline void append_bytes(std::vector<std::byte>& out, std::uint32_t number, std::string_view text) {
  append_bytes(out, number, as_byte_span(text));
}
/// Of a field of type bytes with its tag.
std::uint64_t bytes_field_size(std::uint32_t number, std::uint64_t length);

}  // namespace headrace::wire
