// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace headrace::manifest {
namespace {

// Attributes are named in the order of the line.
using Json = nlohmann::ordered_json;

constexpr std::string_view kRef = "-ref";
constexpr std::string_view kMetadata = "-metadata";
constexpr const char* kNameThem = "name them: --attribute-names source-ref,class";

/// True of a URI and of an absolute path; what else names something is relative.
bool is_place(std::string_view name) {
  return name.starts_with('/') || name.find("://") != std::string_view::npos;
}

bool leaves_root(std::string_view key) {
  return key == ".." || key.starts_with("../") || key.ends_with("/..") ||
         key.find("/../") != std::string_view::npos;
}

std::string names_of(const Json& line) {
  std::vector<std::string> names;
  for (const auto& item : line.items()) names.push_back(item.key());
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Attributes {
  std::string picture;
  std::string label;
};

/// The only one of its kind.
Result<Attributes> find_attributes(const Json& line) {
  std::vector<std::string> refs;
  std::vector<std::string> labels;
  for (const auto& item : line.items()) {
    const std::string& name = item.key();
    if (name.ends_with(kRef)) {
      refs.push_back(name);
    } else if (!name.ends_with(kMetadata)) {
      labels.push_back(name);
    }
  }
  if (refs.size() == 1 && labels.size() == 1)
    return Attributes{.picture = refs.front(), .label = labels.front()};
  return Error(
      Code::invalid,
      fmt::format("not one reference and one label among its attributes: {}", names_of(line)),
      kNameThem);
}

Result<Attributes> pick_attributes(const std::vector<std::string>& names) {
  const auto is_ref = [](const std::string& name) { return name.ends_with(kRef); };
  const auto picture = std::ranges::find_if(names, is_ref);
  const auto label = std::ranges::find_if_not(names, is_ref);
  if (picture == names.end() || label == names.end()) {
    return Error(Code::invalid, "the attribute names have no picture (NAME-ref) or no label",
                 kNameThem);
  }
  return Attributes{.picture = *picture, .label = *label};
}

std::string as_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<std::vector<std::string>> number_list(const Json& value) {
  if (!value.is_array() || value.empty()) return std::nullopt;
  std::vector<std::string> numbers;
  for (const Json& one : value) {
    if (!one.is_number()) return std::nullopt;
    numbers.push_back(one.dump());
  }
  return numbers;
}

Result<std::vector<std::string>> labels_of(const Json& value, const std::string& name) {
  if (auto numbers = number_list(value)) return *std::move(numbers);
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (text.starts_with('['))
      if (auto numbers = number_list(Json::parse(text, nullptr, false))) return *std::move(numbers);
    if (!text.empty()) return std::vector<std::string>{text};
  }
  if (value.is_number()) return std::vector<std::string>{as_text(value)};
  if (value.is_boolean()) return std::vector<std::string>{value.get<bool>() ? "1" : "0"};
  return Error(Code::invalid, fmt::format("attribute \"{}\" is no label", name), kNameThem);
}

}  // namespace

bool is_augmented_line(std::string_view line) {
  if (line.find('{') == std::string_view::npos) return false;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  return std::ranges::any_of(json.items(),
                             [](const auto& item) { return item.key().ends_with(kRef); });
}

Root::Root(std::string uri) : root_(std::move(uri)) {
  if (!is_place(root_)) root_ = std::filesystem::absolute(root_).lexically_normal().string();
  if (!root_.ends_with('/')) root_ += '/';
}

Result<std::string> Root::key_of(std::string_view reference) const {
  std::string_view key = reference;
  if (key.starts_with("file:///")) key.remove_prefix(7);
  if (key.starts_with(root_)) {
    key.remove_prefix(root_.size());
  } else if (is_place(key)) {
    return Error(Code::invalid, fmt::format("\"{}\" does not lie below {}", reference, root_),
                 "open what holds all of it, such as s3://bucket; or say with --list-root what the "
                 "manifest calls the root of a copy");
  }
  if (key.empty() || leaves_root(key))
    return Error(Code::invalid, fmt::format("\"{}\" is no object below {}", reference, root_));
  return std::string(key);
}

Result<list::Row> parse_line(std::string_view line, const std::vector<std::string>& attributes,
                             const Root& root) {
  std::size_t names_in_line = 0;  // of which a parser keeps the last of each
  const auto count = [&](int depth, Json::parse_event_t event, const Json& /*value*/) {
    if (depth == 1 && event == Json::parse_event_t::key) ++names_in_line;
    return true;
  };
  const Json json = Json::parse(line, count, false);
  if (!json.is_object()) return Error(Code::invalid, "no JSON object");
  if (json.size() != names_in_line)
    return Error(Code::invalid, fmt::format("an attribute stands twice among: {}", names_of(json)));
  HEADRACE_TRY(const auto names,
               attributes.empty() ? find_attributes(json) : pick_attributes(attributes));
  for (const std::string& name : attributes) {
    if (json.contains(name)) continue;
    return Error(Code::invalid,
                 fmt::format("no attribute \"{}\", there are: {}", name, names_of(json)));
  }
  const Json& reference = json[names.picture];
  if (!reference.is_string())
    return Error(Code::invalid, fmt::format("\"{}\" is no text", names.picture));
  list::Row row;
  HEADRACE_TRY(row.path, root.key_of(reference.get<std::string>()));
  HEADRACE_TRY(row.labels, labels_of(json[names.label], names.label));
  return row;
}

}  // namespace headrace::manifest
