// SPDX-License-Identifier: Apache-2.0
/// \file aialgs.data.Record, SageMaker's message: named tensors or bytes, labels, a little text.
///
/// Pure functions; bytes in FORMAT.md. Values are owned, byte lists are views into the message.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::protobuf {

/// Dense, or sparse: then `keys` are the positions of `values`, and `shape` is given.
template <class T>
struct Tensor {
  std::vector<T> values;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> shape;
};

struct BytesValue {
  std::vector<ByteSpan> values;
  std::string_view content_type;  ///< "image/jpeg"
};

/// Nothing: a value of no kind, which is legal.
using Value =
    std::variant<std::monostate, Tensor<float>, Tensor<double>, Tensor<std::int32_t>, BytesValue>;
using Map = std::map<std::string_view, Value>;

struct Record {
  Map features;
  Map label;
  std::string_view uid;
  std::string_view metadata;
  std::string_view configuration;
};

/// The name under which SageMaker's own writers put a record's features, and its label.
inline constexpr std::string_view kDefaultKey = "values";

/// As Google's reader: of a name that stands twice, and of two kinds in one value, the last counts;
/// unknown fields are stepped over.
///  * `corrupt`   it is no message
Result<Record> parse_record(ByteSpan message);

/// True if the bytes are a message with anything of a Record in it.
bool is_record(ByteSpan message);

/// True if the bytes are the beginning of a Record of `length` bytes: nothing in them speaks
/// against it. For telling what a file holds.
bool looks_like_record(ByteSpan beginning, std::uint64_t length);

/// The labels: of the name `key`, or if that is empty of "values" or the only one.
///  * `corrupt`   there are none
Result<std::vector<float>> labels_of(const Record& record, std::string_view key);

/// The one picture: the value of the feature `key`, or if that is empty of the only one with bytes.
///  * `corrupt`   there is none, or more than one
Result<ByteSpan> image_of(const Record& record, std::string_view key);

/// Appends the message, maps in the order of their names, as a deterministic serializer does.
void append_record(const Record& record, std::vector<std::byte>& out);

}  // namespace headrace::protobuf
