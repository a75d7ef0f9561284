// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "headrace/records/tar/entry.h"
#include "headrace/records/tar/names.h"

namespace headrace::tar {
namespace {

constexpr std::array<std::string_view, 4> kPictures = {"jpg", "jpeg", "png", "webp"};

const Field* find_field(const Members& members, std::string_view name) {
  const auto found = std::ranges::find(members.fields, name, &Field::name);
  return found == members.fields.end() ? nullptr : &*found;
}

const Bytes* find(const Members& members, std::string_view name) {
  const Field* const found = find_field(members, name);
  return found == nullptr ? nullptr : &found->content;
}

bool ends_as_picture(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::ranges::find(kPictures, name.substr(dot + 1)) != kPictures.end();
}

/// What may be wrong with a sample that lacks something.
std::string lacks(const Members& members, std::string_view what) {
  std::string text = fmt::format("sample \"{}\" has no {}, its fields: {}", members.key, what,
                                 field_names(members));
  if (!members.links.empty()) text += fmt::format("; \"{}\" is a link", members.links.front());
  return text;
}

Error missing(const Members& members, std::string_view what) {
  return {Code::corrupt, lacks(members, what),
          "members of one sample must stand side by side in the tar"};
}

Result<std::vector<float>> labels_of_json(const Members& members, const Bytes& text) {
  const auto json = nlohmann::json::parse(text.text(), nullptr, false);
  if (json.is_discarded()) return Error(Code::corrupt, "its json is none");
  if (!json.is_object()) return missing(members, "label");
  for (const char* name : {"label", "cls", "class", "class_id"}) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    std::vector<float> labels;
    if (found->is_number()) {
      labels.push_back(found->get<float>());
    } else if (found->is_array()) {
      for (const auto& one : *found)
        if (one.is_number()) labels.push_back(one.get<float>());
    }
    if (labels.empty() || (found->is_array() && labels.size() != found->size()))
      return Error(Code::corrupt, fmt::format("\"{}\" of its json is no number", name));
    return labels;
  }
  return missing(members, "label");
}

}  // namespace

std::string field_names(const Members& members) {
  std::vector<std::string_view> names;
  for (const Field& field : members.fields) names.emplace_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Members> read_members(const Bytes& frame) {
  const auto source = make_memory_source(frame);
  Window window(*source);
  Members members;
  std::uint64_t at = 0;
  while (at < frame.size()) {
    HEADRACE_TRY(auto entry, read_entry(window, at));
    if (entry.kind == Entry::Kind::end) break;
    if (entry.kind == Entry::Kind::damage) return Error(Code::corrupt, entry.why);
    at = entry.end;
    if (entry.is_link()) {
      members.links.push_back(std::move(entry.name));
      continue;
    }
    auto name = entry.is_file() ? split_name(entry.name) : std::nullopt;
    if (!name) continue;
    if (members.fields.empty()) members.key = name->key;
    if (name->key != members.key)
      return Error(Code::corrupt,
                   fmt::format(R"("{}" among the members of "{}")", entry.name, members.key));
    if (find(members, name->field) != nullptr) {
      return Error(Code::corrupt,
                   fmt::format(R"(sample "{}" has two fields "{}")", members.key, name->field));
    }
    Bytes content = frame.slice(entry.data, entry.stored);
    if (entry.sparse) {
      auto expanded = expand(*entry.sparse, content);
      if (!expanded) return std::move(expanded).error().at(entry.name);
      content = *std::move(expanded);
    }
    std::string field = std::move(name->field);
    members.fields.push_back(
        {.name = std::move(field), .member = std::move(entry.name), .content = std::move(content)});
  }
  if (members.fields.empty()) return Error(Code::corrupt, "no member of a sample");
  std::ranges::sort(members.fields, {}, &Field::name);
  return members;
}

namespace {

Result<const Field*> picture_field(const Members& members) {
  for (const std::string_view name : kPictures)
    if (const Field* found = find_field(members, name)) return found;
  const Field* only = nullptr;
  for (const Field& field : members.fields) {
    if (!ends_as_picture(field.name)) continue;
    if (only != nullptr) {
      return Error(Code::corrupt,
                   fmt::format("sample \"{}\" has several pictures, its fields: {}", members.key,
                               field_names(members)),
                   "a dot in a file's stem makes one sample of many: rename them");
    }
    only = &field;
  }
  if (only == nullptr) return missing(members, "picture");
  return only;
}

}  // namespace

Result<Bytes> picture_of(const Members& members) {
  HEADRACE_TRY(const Field* field, picture_field(members));
  return field->content;
}

std::string picture_name(const Members& members) {
  const auto field = picture_field(members);
  return field ? (*field)->member : std::string();
}

std::optional<float> parse_cls(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
  std::string digits;
  if (text.front() == '-') digits = "-";
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  bool after_digit = false;
  for (const char letter : text) {
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit && !(letter == '_' && after_digit)) return std::nullopt;
    if (digit) digits += letter;
    after_digit = digit;
  }
  if (!after_digit) return std::nullopt;
  return std::strtof(digits.c_str(), nullptr);
}

Result<std::vector<float>> labels_of(const Members& members) {
  if (const Bytes* cls = find(members, "cls")) {
    if (const auto label = parse_cls(cls->text())) return std::vector<float>{*label};
    return Error(Code::corrupt,
                 fmt::format("the cls of sample \"{}\" is no whole number", members.key));
  }
  if (const Bytes* json = find(members, "json")) return labels_of_json(members, *json);
  return missing(members, "label");
}

}  // namespace headrace::tar
