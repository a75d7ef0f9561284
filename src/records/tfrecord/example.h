// SPDX-License-Identifier: Apache-2.0
/// \file tf.Example: named lists of bytes, floats or integers; and a picture with labels in it.
///
/// Pure functions; bytes in FORMAT.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/label_base.h"

namespace headrace::tfrecord {

using BytesList = std::vector<ByteSpan>;
using FloatList = std::vector<float>;
using Int64List = std::vector<std::int64_t>;
/// Nothing: a feature of no kind, which is legal.
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;

/// Names and byte lists are views into the message.
using Example = std::map<std::string_view, Feature>;

/// As Google's reader: a name that stands twice counts as its last entry, a feature of two kinds is
/// of its last; unknown fields are stepped over.
///  * `corrupt`   it is no message
Result<Example> parse_example(ByteSpan message);

/// The keys that ImageNet's converters write.
inline constexpr std::string_view kImageKey = "image/encoded";
inline constexpr std::string_view kLabelKey = "image/class/label";
inline constexpr std::string_view kNameKey = "image/filename";

/// What LabelBase::automatic is, by one record of the set.
LabelBase guess_label_base(const Example& example);

/// The labels as they are stored: integers, floats, or one decimal number as text.
///  * `corrupt`   there are none, or one that float32 does not hold exactly
Result<std::vector<float>> labels_of(const Example& example, std::string_view key);

/// The one picture.
///  * `corrupt`   there is none, or more than one
Result<ByteSpan> image_of(const Example& example, std::string_view key);

/// `image/filename`, if it is a path with a folder in it, as we write it; else empty. ImageNet's
/// converters write a base name, which says nothing of the class.
std::string file_of(const Example& example);

/// Appends an example of picture, labels and file name (left out if empty), with its keys sorted.
/// Labels that are whole numbers are written as integers, others as floats.
void append_example(std::span<const float> labels, ByteSpan image, std::string_view name,
                    std::vector<std::byte>& out);

}  // namespace headrace::tfrecord
