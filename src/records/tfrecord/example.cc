// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/base/parse_number.h"
#include "headrace/records/plain_path.h"
#include "headrace/records/wire.h"

namespace headrace::tfrecord {
namespace {

using wire::each_field;
using wire::Type;

// Field numbers of tensorflow/core/example/{example,feature}.proto.
constexpr std::uint32_t kFeatures = 1;  // of Example
constexpr std::uint32_t kEntry = 1;     // of Features
constexpr std::uint32_t kKey = 1;       // of a map's entry
constexpr std::uint32_t kValue = 2;
constexpr std::uint32_t kBytesList = 1;  // of Feature
constexpr std::uint32_t kFloatList = 2;
constexpr std::uint32_t kInt64List = 3;
constexpr std::uint32_t kListValue = 1;  // of each list

/// The list that `feature` holds; an empty one in place of any other kind.
template <class List>
List& list_in(Feature& feature) {
  if (!std::holds_alternative<List>(feature)) feature = List();
  return std::get<List>(feature);
}

Result<void> read_bytes(ByteSpan message, BytesList& list) {
  return each_field(message, [&list](const wire::Field& field) -> Result<void> {
    if (field.is(kListValue, Type::bytes)) list.push_back(field.bytes);
    return {};
  });
}

Result<void> read_floats(ByteSpan message, FloatList& list) {
  return each_field(message, [&list](const wire::Field& field) -> Result<void> {
    if (field.number == kListValue) HEADRACE_TRY(wire::append_floats(field, list));
    return {};
  });
}

Result<void> read_integers(ByteSpan message, Int64List& list) {
  std::vector<std::uint64_t> values;
  auto read = each_field(message, [&values](const wire::Field& field) -> Result<void> {
    if (field.number == kListValue) HEADRACE_TRY(wire::append_varints(field, values));
    return {};
  });
  HEADRACE_TRY(std::move(read));
  for (const std::uint64_t value : values) list.push_back(static_cast<std::int64_t>(value));
  return {};
}

Result<void> read_feature(ByteSpan message, Feature& feature) {
  return each_field(message, [&feature](const wire::Field& field) -> Result<void> {
    if (field.type != Type::bytes) return {};
    switch (field.number) {
      case kBytesList:
        return read_bytes(field.bytes, list_in<BytesList>(feature));
      case kFloatList:
        return read_floats(field.bytes, list_in<FloatList>(feature));
      case kInt64List:
        return read_integers(field.bytes, list_in<Int64List>(feature));
      default:
        return {};
    }
  });
}

Result<void> read_entry(ByteSpan message, Example& example) {
  std::string_view key;
  Feature feature;
  HEADRACE_TRY(each_field(message, [&](const wire::Field& field) -> Result<void> {
    if (field.is(kKey, Type::bytes)) key = as_text(field.bytes);
    if (field.is(kValue, Type::bytes)) return read_feature(field.bytes, feature);
    return {};
  }));
  example.insert_or_assign(key, std::move(feature));
  return {};
}

const Feature* find(const Example& example, std::string_view key) {
  const auto found = example.find(key);
  return found == example.end() ? nullptr : &found->second;
}

/// For messages: what there is instead of a key that is missing.
std::string keys_of(const Example& example) {
  constexpr std::size_t kShown = 8;
  std::string keys;
  std::size_t count = 0;
  for (const auto& [key, feature] : example) {
    if (count++ == kShown) return keys + ", …";
    keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", key);
  }
  return keys.empty() ? "none" : keys;
}

Result<float> exact(std::int64_t value) {
  const auto label = static_cast<float>(value);
  // 2^63 as a float is no int64.
  if (label >= 0x1p63F || static_cast<std::int64_t>(label) != value) {
    return Error(Code::corrupt,
                 fmt::format("label {} is a whole number that float32 does not hold", value));
  }
  return label;
}

Result<float> parse_label(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  if (!value)
    return Error(Code::corrupt, fmt::format("label \"{}\" is no number", text.substr(0, 40)));
  return exact(*value);
}

std::vector<std::byte> entry(std::string_view key, std::uint32_t kind,
                             const std::vector<std::byte>& list) {
  std::vector<std::byte> feature;
  wire::append_bytes(feature, kind, list);
  std::vector<std::byte> out;
  wire::append_bytes(out, kKey, key);
  wire::append_bytes(out, kValue, feature);
  return out;
}

std::vector<std::byte> label_entry(std::span<const float> labels) {
  const bool whole = std::ranges::all_of(
      labels, [](float label) { return label == std::trunc(label) && std::abs(label) < 0x1p63F; });
  std::vector<std::byte> packed;
  if (whole) {
    for (const float label : labels)
      wire::append_varint(packed, static_cast<std::uint64_t>(static_cast<std::int64_t>(label)));
  } else {
    const auto bytes = std::as_bytes(labels);
    packed.assign(bytes.begin(), bytes.end());
  }
  std::vector<std::byte> list;
  wire::append_bytes(list, kListValue, packed);
  return entry(kLabelKey, whole ? kInt64List : kFloatList, list);
}

std::vector<std::byte> name_entry(std::string_view name) {
  std::vector<std::byte> list;
  wire::append_bytes(list, kListValue, name);
  return entry(kNameKey, kBytesList, list);
}

}  // namespace

Result<Example> parse_example(ByteSpan message) {
  Example example;
  auto read = each_field(message, [&example](const wire::Field& field) -> Result<void> {
    if (!field.is(kFeatures, Type::bytes)) return {};
    return each_field(field.bytes, [&example](const wire::Field& inner) -> Result<void> {
      return inner.is(kEntry, Type::bytes) ? read_entry(inner.bytes, example) : Result<void>();
    });
  });
  HEADRACE_TRY(std::move(read));
  return example;
}

LabelBase guess_label_base(const Example& example) {
  const bool imagenet =
      example.contains("image/class/text") || example.contains("image/class/synset");
  return imagenet ? LabelBase::one : LabelBase::zero;
}

Result<std::vector<float>> labels_of(const Example& example, std::string_view key) {
  std::vector<float> labels;
  if (const Feature* feature = find(example, key)) {
    if (const auto* integers = std::get_if<Int64List>(feature)) {
      for (const std::int64_t value : *integers) {
        HEADRACE_TRY(labels.emplace_back(), exact(value));
      }
    } else if (const auto* floats = std::get_if<FloatList>(feature)) {
      labels = *floats;
    } else if (const auto* texts = std::get_if<BytesList>(feature)) {
      for (const ByteSpan text : *texts) {
        HEADRACE_TRY(labels.emplace_back(), parse_label(as_text(text)));
      }
    }
    if (labels.empty())
      return Error(Code::corrupt, fmt::format("the feature \"{}\" holds no label", key));
    return labels;
  }
  return Error(Code::corrupt, fmt::format("no label \"{}\"; features: {}", key, keys_of(example)),
               "name the feature with --label-key");
}

Result<ByteSpan> image_of(const Example& example, std::string_view key) {
  const Feature* feature = find(example, key);
  if (feature == nullptr) {
    return Error(Code::corrupt,
                 fmt::format("no picture \"{}\"; features: {}", key, keys_of(example)),
                 "name the feature with --image-key");
  }
  const auto* list = std::get_if<BytesList>(feature);
  if (list == nullptr || list->size() != 1) {
    return Error(
        Code::corrupt,
        fmt::format("the feature \"{}\" holds {}, not one picture", key,
                    list == nullptr ? "no bytes" : fmt::format("{} values", list->size())));
  }
  if (list->front().empty()) return Error(Code::corrupt, "a record without a picture");
  return list->front();
}

std::string file_of(const Example& example) {
  const Feature* feature = find(example, kNameKey);
  const auto* list = feature == nullptr ? nullptr : std::get_if<BytesList>(feature);
  if (list == nullptr || list->size() != 1) return {};
  const std::string_view name = as_text(list->front());
  return is_plain_path(name) ? std::string(name) : std::string();
}

void append_example(std::span<const float> labels, ByteSpan image, std::string_view name,
                    std::vector<std::byte>& out) {
  const auto label = label_entry(labels);
  const auto file = name.empty() ? std::vector<std::byte>() : name_entry(name);
  // The picture may be large: it is copied once, and the lengths around it are computed.
  const std::uint64_t list = wire::bytes_field_size(kListValue, image.size());
  const std::uint64_t feature = wire::bytes_field_size(kBytesList, list);
  const std::uint64_t picture =
      wire::bytes_field_size(kKey, kImageKey.size()) + wire::bytes_field_size(kValue, feature);
  std::uint64_t features =
      wire::bytes_field_size(kEntry, label.size()) + wire::bytes_field_size(kEntry, picture);
  if (!file.empty()) features += wire::bytes_field_size(kEntry, file.size());
  out.reserve(out.size() + wire::bytes_field_size(kFeatures, features));
  wire::append_tag(out, kFeatures, Type::bytes);
  wire::append_varint(out, features);
  wire::append_bytes(out, kEntry, label);
  wire::append_tag(out, kEntry, Type::bytes);
  wire::append_varint(out, picture);
  wire::append_bytes(out, kKey, kImageKey);
  wire::append_tag(out, kValue, Type::bytes);
  wire::append_varint(out, feature);
  wire::append_tag(out, kBytesList, Type::bytes);
  wire::append_varint(out, list);
  wire::append_bytes(out, kListValue, image);
  if (!file.empty()) wire::append_bytes(out, kEntry, file);
}

}  // namespace headrace::tfrecord
