// SPDX-License-Identifier: Apache-2.0
/// \file What a sample's frame holds: its fields; and which of them are its picture and its label.
///
/// Pure functions. Fields share the frame's block, but for members with holes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::tar {

struct Field {
  std::string name;    ///< "jpg", "seg.png"
  std::string member;  ///< as it stands in the tar: "cat/7.JPG"
  Bytes content;
};

struct Members {
  std::string key;
  std::vector<Field> fields;       ///< sorted by name
  std::vector<std::string> links;  ///< names of links in the frame: they are not followed
};

/// Of one whole frame. `corrupt` if the bytes are none, or one field is there twice.
Result<Members> read_members(const Bytes& frame);

/// The picture: jpg, jpeg, png or webp, in that order; else the only field that ends so.
///  * `corrupt`   there is none, or several and none of them is named so alone
Result<Bytes> picture_of(const Members& members);

/// Of that field, the member's name; empty where there is no picture.
std::string picture_name(const Members& members);

/// From `cls`, else from `json`: its "label", "cls", "class" or "class_id", a number or several.
///  * `corrupt`   there is none, or it is no number
Result<std::vector<float>> labels_of(const Members& members);

/// As Python's int() reads ASCII: spaces around it, a sign, underscores between digits.
std::optional<float> parse_cls(std::string_view text);

/// "jpg, json", for messages.
std::string field_names(const Members& members);

}  // namespace headrace::tar
