// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/manageability.h"

#include <cassert>

#include "headrace/advisor/yaml.h"

namespace headrace::advisor {
namespace {

Manageability parse_facts(const YAML::Node& node) {
  Manageability facts;
  for (const auto& step : node["steps"]) facts.steps.push_back(step.as<std::string>());
  for (const auto& item : node["resources"]) facts.resources.push_back(item.as<std::string>());
  facts.conversion = node["conversion"].as<bool>(false);
  facts.replace_one = node["replace_one"].as<bool>(true);
  facts.standing = node["standing"].as<std::string>("");
  facts.disk = node["disk"].as<double>(0);
  return facts;
}

/// The format's steps come first: they are done first.
void add(Manageability& facts, const Manageability& more) {
  facts.steps.insert(facts.steps.begin(), more.steps.begin(), more.steps.end());
  facts.conversion = facts.conversion || more.conversion;
  facts.replace_one = facts.replace_one && more.replace_one;
}

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

unsigned Manageability::count() const {
  const auto listed = static_cast<unsigned>(steps.size() + resources.size());
  return listed + (conversion ? 1U : 0U) + (replace_one ? 0U : 1U) + (standing.empty() ? 0U : 1U) +
         (disk > 0 ? 1U : 0U);
}

std::string Manageability::sentence() const {
  return fmt::format(
      "{} before training, {} to create and delete, {}, {}, {}, {}", counted(steps.size(), "step"),
      counted(resources.size(), "resource"), conversion ? "conversion needed" : "no conversion",
      replace_one ? "one picture can be replaced" : "no picture can be replaced alone",
      standing.empty() ? "no standing cost" : "a standing cost",
      disk > 0 ? "disk for the set" : "no disk");
}

Result<ManageabilityBook> ManageabilityBook::parse(std::string_view yaml, std::string_view name) {
  return with_yaml(yaml, name, [](const YAML::Node& root) -> Result<ManageabilityBook> {
    ManageabilityBook book;
    if (!root.IsMap() || root["schema"].as<int>(0) != 1) {
      return Error(Code::invalid, "no manageability file of schema 1");
    }
    for (const auto& pair : root["modes"]) {
      const auto mode = pair.first.as<std::string>();
      book.modes_[mode] = parse_facts(pair.second);
      if (pair.second["raw"]) book.raw_[mode] = parse_facts(pair.second["raw"]);
    }
    for (const auto& pair : root["formats"]) {
      book.formats_[pair.first.as<std::string>()] = parse_facts(pair.second);
    }
    for (const char* mode : {"direct", "file", "stream", "keep", "fastfile", "pipe"}) {
      if (!book.modes_.contains(mode)) {
        return Error(Code::invalid, fmt::format("modes has no \"{}\"", mode));
      }
    }
    if (!book.formats_.contains("other")) return Error(Code::invalid, "formats has no \"other\"");
    return book;
  });
}

Manageability ManageabilityBook::facts(std::string_view mode, std::string_view format) const {
  const auto by_mode = modes_.find(mode);
  assert(by_mode != modes_.end());
  const auto named = formats_.find(format);
  const auto& by_format = named != formats_.end() ? named->second : formats_.find("other")->second;
  Manageability facts = by_mode->second;
  add(facts, by_format);
  const auto raw = raw_.find(mode);
  if (raw != raw_.end() && !by_format.conversion) add(facts, raw->second);
  return facts;
}

Result<ManageabilityBook> ManageabilityBook::load(const std::string& path) {
  HEADRACE_TRY(const auto file, read_data_file(path, "manageability.yaml"));
  return parse(file.text, file.path);
}

}  // namespace headrace::advisor
