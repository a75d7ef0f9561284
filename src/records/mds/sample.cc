// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace headrace::mds {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> kPictureEncodings = {"jpeg", "png"};
constexpr std::array<std::string_view, 7> kPictureNames = {"image", "jpg", "jpeg",   "png",
                                                           "webp",  "img", "picture"};
constexpr std::array<std::string_view, 7> kLabelNames = {"label",    "labels", "cls", "class",
                                                         "class_id", "target", "y"};

bool is_one_of(std::string_view name, Names names) {
  return std::ranges::find(names, name) != names.end();
}

/// The only column for which `fits` is true.
template <class Fits>
std::optional<std::size_t> only(std::span<const Column> columns, const Fits& fits) {
  const auto found = std::ranges::find_if(columns, fits);
  if (found == columns.end() || std::find_if(found + 1, columns.end(), fits) != columns.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::string described(std::span<const Column> columns) {
  std::vector<std::string> texts;
  for (const Column& column : columns)
    texts.push_back(fmt::format("{}: {}", column.name, column.encoding));
  return fmt::format("{}", fmt::join(texts, ", "));
}

float half_to_float(std::uint16_t bits) {
  const auto exponent = static_cast<int>(bits >> 10U & 0x1fU);
  const auto fraction = static_cast<float>(bits & 0x3ffU);
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VALF : std::nanf("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024.0F + fraction, exponent - 25);
}

template <class T>
float load(ByteSpan value) {
  static_assert(std::endian::native == std::endian::little);
  T number{};
  std::memcpy(&number, value.data(), sizeof number);
  return static_cast<float>(number);
}

float load_half(ByteSpan value) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, value.data(), sizeof bits);
  return half_to_float(bits);
}

struct Scalar {
  std::string_view name;
  std::size_t bytes;
  float (*load)(ByteSpan value);
};
constexpr std::array<Scalar, 12> kScalars = {{
    {"int", 8, load<std::int64_t>},
    {"int8", 1, load<std::int8_t>},
    {"int16", 2, load<std::int16_t>},
    {"int32", 4, load<std::int32_t>},
    {"int64", 8, load<std::int64_t>},
    {"uint8", 1, load<std::uint8_t>},
    {"uint16", 2, load<std::uint16_t>},
    {"uint32", 4, load<std::uint32_t>},
    {"uint64", 8, load<std::uint64_t>},
    {"float16", 2, load_half},
    {"float32", 4, load<float>},
    {"float64", 8, load<double>},
}};

const Scalar* scalar_named(std::string_view name) {
  const auto found = std::ranges::find(kScalars, name, &Scalar::name);
  return found == kScalars.end() ? nullptr : &*found;
}

bool is_text_number(std::string_view encoding) {
  return encoding == "str_int" || encoding == "str_float" || encoding == "str_decimal";
}

/// "ndarray:int64:3": the type, where the shape stands there, too.
const Scalar* array_of(std::string_view encoding) {
  constexpr std::string_view kArray = "ndarray:";
  if (!encoding.starts_with(kArray)) return nullptr;
  encoding.remove_prefix(kArray.size());
  const auto colon = encoding.find(':');
  return colon == std::string_view::npos ? nullptr : scalar_named(encoding.substr(0, colon));
}

}  // namespace

Result<std::vector<Bytes>> split(std::span<const Column> columns, const Bytes& frame) {
  std::size_t at = 0;
  for (const Column& column : columns) at += column.size ? 0 : 4;
  if (at > frame.size())
    return Error(Code::corrupt, fmt::format("a sample of {} bytes, too few for the sizes of its "
                                            "columns",
                                            frame.size()));
  std::vector<Bytes> values;
  std::size_t size_at = 0;
  for (const Column& column : columns) {
    std::uint64_t size = 0;
    if (column.size) {
      size = *column.size;
    } else {
      std::uint32_t own = 0;
      std::memcpy(&own, frame.data() + size_at, sizeof own);
      size = own;
      size_at += sizeof own;
    }
    if (size > frame.size() - at) {
      return Error(Code::corrupt,
                   fmt::format("column \"{}\" of {} bytes leaves the sample", column.name, size));
    }
    values.push_back(frame.slice(at, size));
    at += size;
  }
  if (at != frame.size()) {
    return Error(Code::corrupt,
                 fmt::format("{} bytes of the sample are in no column", frame.size() - at));
  }
  return values;
}

Result<std::size_t> picture_column(std::span<const Column> columns) {
  const auto encoded = only(
      columns, [](const Column& column) { return is_one_of(column.encoding, kPictureEncodings); });
  if (encoded) return *encoded;
  const auto named = only(columns, [](const Column& column) {
    return column.encoding == "bytes" && is_one_of(column.name, kPictureNames);
  });
  if (named) return *named;
  const auto bytes = only(columns, [](const Column& column) { return column.encoding == "bytes"; });
  if (bytes) return *bytes;
  return Error(Code::corrupt,
               fmt::format("no column is the one encoded picture: {}", described(columns)),
               "write it with encoding jpeg, png or bytes; pil keeps raw pixels");
}

Result<std::size_t> label_column(std::span<const Column> columns) {
  for (const std::string_view name : kLabelNames) {
    const auto found = std::ranges::find(columns, name, &Column::name);
    if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  }
  const auto number = only(columns, [](const Column& column) {
    return scalar_named(column.encoding) != nullptr || is_text_number(column.encoding);
  });
  if (number) return *number;
  return Error(Code::corrupt, fmt::format("no column is the label: {}", described(columns)),
               "call it \"label\"");
}

Result<std::vector<float>> numbers(const Column& column, ByteSpan value) {
  if (is_text_number(column.encoding)) {
    const std::string text(as_text(value));
    char* end = nullptr;
    const float number = std::strtof(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size())
      return Error(Code::corrupt, fmt::format("column \"{}\" is no number", column.name));
    return std::vector<float>{number};
  }
  const Scalar* const alone = scalar_named(column.encoding);
  const Scalar* const scalar = alone != nullptr ? alone : array_of(column.encoding);
  if (scalar == nullptr) {
    return Error(Code::corrupt, fmt::format("column \"{}\" of encoding {} is no label", column.name,
                                            column.encoding));
  }
  if (value.empty() || value.size() % scalar->bytes != 0 ||
      (alone != nullptr && value.size() != scalar->bytes))
    return Error(Code::corrupt, fmt::format("column \"{}\" of {} bytes is no {}", column.name,
                                            value.size(), column.encoding));
  std::vector<float> found;
  for (; !value.empty(); value = value.subspan(scalar->bytes)) found.push_back(scalar->load(value));
  return found;
}

}  // namespace headrace::mds
