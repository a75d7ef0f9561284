// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headrace::wire {
namespace {

constexpr std::uint64_t kGroupBegins = 3;
constexpr std::uint64_t kGroupEnds = 4;
constexpr std::size_t kMaxVarint = 10;
constexpr std::size_t kMaxDepth = 100;  // as Google's readers

Error bad(std::string why) { return {Code::corrupt, "no protobuf message: " + std::move(why)}; }

template <class T>
Result<bool> append_fixed(const Field& field, Type alone, std::vector<T>& out) {
  if (field.type == alone) {
    T value;
    std::memcpy(&value, &field.value, sizeof value);  // little-endian
    out.push_back(value);
    return true;
  }
  if (field.type != Type::bytes) return false;
  if (field.bytes.size() % sizeof(T) != 0)
    return bad(fmt::format("{} bytes of packed numbers", field.bytes.size()));
  const std::size_t before = out.size();
  out.resize(before + field.bytes.size() / sizeof(T));
  if (!field.bytes.empty()) std::memcpy(&out[before], field.bytes.data(), field.bytes.size());
  return true;
}

}  // namespace

Result<std::uint64_t> Reader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kMaxVarint; ++i) {
    if (i == rest_.size()) return bad("it ends inside a number");
    const auto byte = static_cast<std::uint64_t>(rest_[i]);
    value |= (byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  return bad("a number of more than 10 bytes");
}

Result<std::uint64_t> Reader::fixed(std::size_t bytes) {
  if (bytes > rest_.size()) return bad("it ends inside a number");
  std::uint64_t value = 0;
  std::memcpy(&value, rest_.data(), bytes);
  rest_ = rest_.subspan(bytes);
  return value;
}

Result<Field> Reader::content(std::uint32_t number, std::uint64_t type) {
  Field field{.number = number};
  if (type == static_cast<std::uint64_t>(Type::varint)) {
    HEADRACE_TRY(field.value, varint());
  } else if (type == static_cast<std::uint64_t>(Type::fixed64)) {
    HEADRACE_TRY(field.value, fixed(8));
  } else if (type == static_cast<std::uint64_t>(Type::fixed32)) {
    HEADRACE_TRY(field.value, fixed(4));
  } else if (type == static_cast<std::uint64_t>(Type::bytes)) {
    HEADRACE_TRY(const auto length, varint());
    if (length > rest_.size()) {
      return bad(
          fmt::format("field {} of {} bytes, of which {} are there", number, length, rest_.size()));
    }
    field.bytes = rest_.first(length);
    rest_ = rest_.subspan(length);
  } else {
    return bad(fmt::format("wire type {}", type));
  }
  field.type = static_cast<Type>(type);
  return field;
}

Result<void> Reader::skip_group(std::uint32_t number) {
  std::vector<std::uint32_t> open{number};
  while (!open.empty()) {
    if (open.size() > kMaxDepth) return bad("groups too deep");
    HEADRACE_TRY(const auto tag, varint());
    const auto inner = static_cast<std::uint32_t>(tag >> 3U);
    if (tag > UINT32_MAX || inner == 0) return bad(fmt::format("tag {}", tag));
    if ((tag & 7U) == kGroupBegins) {
      open.push_back(inner);
    } else if ((tag & 7U) == kGroupEnds) {
      if (open.back() != inner) return bad("a group that another ends");
      open.pop_back();
    } else {
      HEADRACE_TRY(content(inner, tag & 7U));
    }
  }
  return {};
}

Result<std::optional<Field>> Reader::next() {
  while (!rest_.empty()) {
    HEADRACE_TRY(const auto tag, varint());
    const auto number = static_cast<std::uint32_t>(tag >> 3U);
    if (tag > UINT32_MAX || number == 0) return bad(fmt::format("tag {}", tag));
    if ((tag & 7U) == kGroupBegins) {
      HEADRACE_TRY(skip_group(number));
      continue;
    }
    HEADRACE_TRY(auto field, content(number, tag & 7U));
    return std::optional(field);
  }
  return std::optional<Field>();
}

std::optional<std::uint64_t> Prefix::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < kMaxVarint; ++i) {
    const auto byte = static_cast<std::uint64_t>(rest_[i]);
    value |= (byte & 0x7fU) << (7 * i);
    if (byte >= 0x80) continue;
    take(i + 1);
    return value;
  }
  wrong_ = rest_.size() >= kMaxVarint || rest_.size() == left_;
  return std::nullopt;
}

void Prefix::take(std::uint64_t bytes) {
  wrong_ = wrong_ || bytes > left_;
  left_ -= std::min(bytes, left_);
  rest_ = rest_.subspan(std::min<std::uint64_t>(bytes, rest_.size()));
}

std::optional<Field> Prefix::next() {
  if (wrong_ || rest_.empty()) return std::nullopt;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  Field field{.number = static_cast<std::uint32_t>(*tag >> 3U),
              .type = static_cast<Type>(*tag & 7U)};
  wrong_ = wrong_ || *tag > UINT32_MAX || field.number == 0;
  if (field.type == Type::varint) {
    const auto value = varint();
    if (!value) return std::nullopt;
    field.value = *value;
  } else if (field.type == Type::bytes) {
    const auto length = varint();
    if (!length) return std::nullopt;
    field.value = *length;
    field.bytes = rest_.first(std::min<std::uint64_t>(*length, rest_.size()));
    take(*length);
  } else if (field.type == Type::fixed32 || field.type == Type::fixed64) {
    take(field.type == Type::fixed32 ? 4 : 8);
  } else {
    wrong_ = true;
  }
  if (wrong_) return std::nullopt;
  return field;
}

Result<bool> append_varints(const Field& field, std::vector<std::uint64_t>& out) {
  if (field.type == Type::varint) {
    out.push_back(field.value);
    return true;
  }
  if (field.type != Type::bytes) return false;
  Reader reader(field.bytes);
  while (!reader.rest_.empty()) {
    HEADRACE_TRY(const auto value, reader.varint());
    out.push_back(value);
  }
  return true;
}

Result<bool> append_floats(const Field& field, std::vector<float>& out) {
  return append_fixed(field, Type::fixed32, out);
}

Result<bool> append_doubles(const Field& field, std::vector<double>& out) {
  return append_fixed(field, Type::fixed64, out);
}

void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<std::byte>(value | 0x80U));
  out.push_back(static_cast<std::byte>(value));
}

void append_tag(std::vector<std::byte>& out, std::uint32_t number, Type type) {
  append_varint(out, std::uint64_t{number} << 3U | static_cast<std::uint64_t>(type));
}

void append_bytes(std::vector<std::byte>& out, std::uint32_t number, ByteSpan bytes) {
  append_tag(out, number, Type::bytes);
  append_varint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::uint64_t bytes_field_size(std::uint32_t number, std::uint64_t length) {
  const auto varint_size = [](std::uint64_t value) {
    std::uint64_t size = 1;
    for (; value >= 0x80; value >>= 7U) ++size;
    return size;
  };
  return varint_size(std::uint64_t{number} << 3U) + varint_size(length) + length;
}

}  // namespace headrace::wire
