// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/protobuf/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "headrace/records/wire.h"

namespace headrace::protobuf {
namespace {

using wire::each_field;
using wire::Type;

// Field numbers of recordio_protobuf.proto.
constexpr std::uint32_t kFeatures = 1;  // of Record
constexpr std::uint32_t kLabel = 2;
constexpr std::uint32_t kUid = 3;
constexpr std::uint32_t kMetadata = 4;
constexpr std::uint32_t kConfiguration = 5;
constexpr std::uint32_t kKey = 1;  // of a map's entry
constexpr std::uint32_t kValue = 2;
constexpr std::uint32_t kFloat32 = 2;  // of Value
constexpr std::uint32_t kFloat64 = 3;
constexpr std::uint32_t kInt32 = 7;
constexpr std::uint32_t kBytes = 9;
constexpr std::uint32_t kValues = 1;  // of a tensor
constexpr std::uint32_t kKeys = 2;
constexpr std::uint32_t kShape = 3;
constexpr std::uint32_t kBytesValue = 1;  // of Bytes
constexpr std::uint32_t kContentType = 2;

Result<bool> append_values(const wire::Field& field, std::vector<float>& out) {
  return wire::append_floats(field, out);
}
Result<bool> append_values(const wire::Field& field, std::vector<double>& out) {
  return wire::append_doubles(field, out);
}
Result<bool> append_values(const wire::Field& field, std::vector<std::int32_t>& out) {
  std::vector<std::uint64_t> values;
  HEADRACE_TRY(const bool known, wire::append_varints(field, values));
  for (const std::uint64_t value : values)
    out.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
  return known;
}

template <class T>
Result<void> read_tensor(ByteSpan message, Value& value) {
  if (!std::holds_alternative<Tensor<T>>(value)) value = Tensor<T>();
  auto& tensor = std::get<Tensor<T>>(value);
  return each_field(message, [&tensor](const wire::Field& field) -> Result<void> {
    if (field.number == kValues) HEADRACE_TRY(append_values(field, tensor.values));
    if (field.number == kKeys) HEADRACE_TRY(wire::append_varints(field, tensor.keys));
    if (field.number == kShape) HEADRACE_TRY(wire::append_varints(field, tensor.shape));
    return {};
  });
}

Result<void> read_bytes(ByteSpan message, Value& value) {
  if (!std::holds_alternative<BytesValue>(value)) value = BytesValue();
  auto& bytes = std::get<BytesValue>(value);
  return each_field(message, [&bytes](const wire::Field& field) -> Result<void> {
    if (field.is(kBytesValue, Type::bytes)) bytes.values.push_back(field.bytes);
    if (field.is(kContentType, Type::bytes)) bytes.content_type = as_text(field.bytes);
    return {};
  });
}

Result<void> read_value(ByteSpan message, Value& value) {
  return each_field(message, [&value](const wire::Field& field) -> Result<void> {
    if (field.type != Type::bytes) return {};
    switch (field.number) {
      case kFloat32:
        return read_tensor<float>(field.bytes, value);
      case kFloat64:
        return read_tensor<double>(field.bytes, value);
      case kInt32:
        return read_tensor<std::int32_t>(field.bytes, value);
      case kBytes:
        return read_bytes(field.bytes, value);
      default:
        return {};
    }
  });
}

Result<void> read_entry(ByteSpan message, Map& map) {
  std::string_view key;
  Value value;
  HEADRACE_TRY(each_field(message, [&](const wire::Field& field) -> Result<void> {
    if (field.is(kKey, Type::bytes)) key = as_text(field.bytes);
    if (field.is(kValue, Type::bytes)) return read_value(field.bytes, value);
    return {};
  }));
  map.insert_or_assign(key, std::move(value));
  return {};
}

std::string_view kind_of(const Value& value) {
  constexpr std::string_view kKinds[] = {"nothing", "float32_tensor", "float64_tensor",
                                         "int32_tensor", "bytes"};
  return kKinds[value.index()];
}

/// For messages.
std::string list(const Map& map) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t count = 0;
  for (const auto& [key, value] : map) {
    if (count++ == kShown) return text + ", …";
    text += fmt::format("{}\"{}\" ({})", text.empty() ? "" : ", ", key, kind_of(value));
  }
  return text.empty() ? "none" : text;
}

/// The value named `key`; with no name "values", or the only one.
const Value* pick(const Map& map, std::string_view key) {
  if (const auto found = map.find(key.empty() ? kDefaultKey : key); found != map.end())
    return &found->second;
  return key.empty() && map.size() == 1 ? &map.begin()->second : nullptr;
}

void append_values(std::vector<std::byte>& out, const std::vector<std::int32_t>& values) {
  for (const std::int32_t value : values)
    wire::append_varint(out, static_cast<std::uint64_t>(std::int64_t{value}));
}
template <class T>
void append_values(std::vector<std::byte>& out, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_packed(std::vector<std::byte>& out, std::uint32_t number,
                   const std::vector<std::uint64_t>& values) {
  if (values.empty()) return;
  std::vector<std::byte> packed;
  for (const std::uint64_t value : values) wire::append_varint(packed, value);
  wire::append_bytes(out, number, packed);
}

template <class T>
std::uint32_t append_content(const Tensor<T>& tensor, std::vector<std::byte>& out) {
  if (!tensor.values.empty()) {
    std::vector<std::byte> packed;
    append_values(packed, tensor.values);
    wire::append_bytes(out, kValues, packed);
  }
  append_packed(out, kKeys, tensor.keys);
  append_packed(out, kShape, tensor.shape);
  if constexpr (std::is_same_v<T, float>) return kFloat32;
  if constexpr (std::is_same_v<T, double>) return kFloat64;
  return kInt32;
}

std::uint32_t append_content(const BytesValue& bytes, std::vector<std::byte>& out) {
  for (const ByteSpan value : bytes.values) wire::append_bytes(out, kBytesValue, value);
  if (!bytes.content_type.empty()) wire::append_bytes(out, kContentType, bytes.content_type);
  return kBytes;
}

void append_map(std::vector<std::byte>& out, std::uint32_t number, const Map& map) {
  for (const auto& [key, value] : map) {
    std::vector<std::byte> content;
    const std::uint32_t kind = std::visit(
        [&content](const auto& held) -> std::uint32_t {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
            return 0;
          else
            return append_content(held, content);
        },
        value);
    std::vector<std::byte> whole;
    if (kind != 0) wire::append_bytes(whole, kind, content);
    std::vector<std::byte> entry;
    wire::append_bytes(entry, kKey, key);
    wire::append_bytes(entry, kValue, whole);
    wire::append_bytes(out, number, entry);
  }
}

}  // namespace

Result<Record> parse_record(ByteSpan message) {
  Record record;
  HEADRACE_TRY(each_field(message, [&record](const wire::Field& field) -> Result<void> {
    if (field.type != Type::bytes) return {};
    switch (field.number) {
      case kFeatures:
        return read_entry(field.bytes, record.features);
      case kLabel:
        return read_entry(field.bytes, record.label);
      case kUid:
        record.uid = as_text(field.bytes);
        return {};
      case kMetadata:
        record.metadata = as_text(field.bytes);
        return {};
      case kConfiguration:
        record.configuration = as_text(field.bytes);
        return {};
      default:
        return {};
    }
  }));
  return record;
}

bool is_record(ByteSpan message) {
  const auto record = parse_record(message);
  return record && (!record->features.empty() || !record->label.empty() || !record->uid.empty());
}

bool looks_like_record(ByteSpan beginning, std::uint64_t length) {
  if (beginning.size() >= length) return is_record(beginning.first(length));
  // A field that is cut off: what its tag and length say must fit all the same.
  wire::Prefix prefix(beginning, length);
  bool known = false;
  while (const auto field = prefix.next()) {
    if (field->number > kConfiguration || field->type != Type::bytes) return false;
    known = true;
    if (field->number != kFeatures && field->number != kLabel) continue;
    // The entry's own first field is its key.
    wire::Prefix entry(field->bytes, field->value);
    const auto key = entry.next();
    if (key && !key->is(kKey, Type::bytes) && !key->is(kValue, Type::bytes)) return false;
    if (entry.wrong()) return false;
  }
  return known && !prefix.wrong();
}

Result<std::vector<float>> labels_of(const Record& record, std::string_view key) {
  const Value* value = pick(record.label, key);
  std::vector<float> labels;
  if (value != nullptr) {
    if (const auto* floats = std::get_if<Tensor<float>>(value)) labels = floats->values;
    if (const auto* doubles = std::get_if<Tensor<double>>(value))
      for (const double label : doubles->values) labels.push_back(static_cast<float>(label));
    if (const auto* integers = std::get_if<Tensor<std::int32_t>>(value))
      for (const std::int32_t label : integers->values) labels.push_back(static_cast<float>(label));
  }
  if (!labels.empty()) return labels;
  return Error(Code::corrupt,
               fmt::format("no label{}; there are: {}",
                           key.empty() ? "" : fmt::format(" \"{}\"", key), list(record.label)),
               "name it with --label-key");
}

Result<ByteSpan> image_of(const Record& record, std::string_view key) {
  const BytesValue* bytes = nullptr;
  std::size_t count = 0;
  for (const auto& [name, value] : record.features) {
    const auto* found = std::get_if<BytesValue>(&value);
    if (found == nullptr || (!key.empty() && name != key)) continue;
    bytes = found;
    ++count;
  }
  if (count != 1) {
    return Error(Code::corrupt,
                 fmt::format("{} features that could be the picture; features: {}",
                             count == 0 ? "no" : std::to_string(count), list(record.features)),
                 "name it with --image-key");
  }
  if (bytes->values.size() != 1) {
    return Error(Code::corrupt, fmt::format("a feature of {} byte strings, not of one picture",
                                            bytes->values.size()));
  }
  if (bytes->values.front().empty()) return Error(Code::corrupt, "a record without a picture");
  return bytes->values.front();
}

void append_record(const Record& record, std::vector<std::byte>& out) {
  append_map(out, kFeatures, record.features);
  append_map(out, kLabel, record.label);
  if (!record.uid.empty()) wire::append_bytes(out, kUid, record.uid);
  if (!record.metadata.empty()) wire::append_bytes(out, kMetadata, record.metadata);
  if (!record.configuration.empty()) wire::append_bytes(out, kConfiguration, record.configuration);
}

}  // namespace headrace::protobuf
