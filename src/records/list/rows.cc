// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/list/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "headrace/base/parse_number.h"
#include "headrace/base/text.h"

namespace headrace::list {
namespace {

constexpr std::string_view kBlanks = " \r";

bool is_path_column(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"path", "key", "file", "filename", "image"};
  const std::string known = lower(trim(name, kBlanks));
  return std::ranges::find(kNames, known) != kNames.end();
}

bool is_label_column(std::string_view name) {
  const std::string known = lower(trim(name, kBlanks));
  return known.starts_with("label") || known.starts_with("class");
}

}  // namespace

std::optional<float> to_number(std::string_view label) {
  label = trim(label, kBlanks);
  if (label.starts_with('+')) label.remove_prefix(1);
  return parse_number<float>(label);
}

Result<std::optional<Row>> parse_lst(std::string_view line) {
  if (trim(line, kBlanks).empty()) return std::optional<Row>();
  std::vector<std::string_view> fields;
  while (true) {
    const auto tab = line.find('\t');
    fields.push_back(trim(line.substr(0, tab), kBlanks));
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  if (fields.size() < 3) {
    return Error(Code::invalid,
                 fmt::format("{} of at least 3 fields with tabs between them", fields.size()),
                 "a line is: number, labels, path");
  }
  if (!parse_number<std::uint64_t>(fields[0]))
    return Error(Code::invalid, fmt::format("field 1: \"{}\" is no number", fields[0]));
  if (fields.back().empty())
    return Error(Code::invalid, fmt::format("field {}: the path is empty", fields.size()));
  Row row{.path = std::string(fields.back()), .labels = {}};
  for (std::size_t i = 1; i + 1 < fields.size(); ++i) {
    if (!to_number(fields[i])) {
      return Error(Code::invalid,
                   fmt::format("field {}: label \"{}\" is no number", i + 1, fields[i]));
    }
    row.labels.emplace_back(fields[i]);
  }
  return std::optional(std::move(row));
}

Result<std::vector<std::string>> split_csv(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    std::string field;
    if (!line.starts_with('"')) {
      const auto comma = std::min(line.find(','), line.size());
      field = line.substr(0, comma);
      line.remove_prefix(comma);
    } else {
      line.remove_prefix(1);
      while (true) {
        const auto quote = line.find('"');
        if (quote == std::string_view::npos) {
          return Error(Code::invalid, fmt::format("field {}: the quote does not end in its line",
                                                  fields.size() + 1));
        }
        field += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) break;
        field += '"';
        line.remove_prefix(1);
      }
      if (!line.empty() && !line.starts_with(',')) {
        return Error(Code::invalid,
                     fmt::format("field {}: text behind the quote", fields.size() + 1));
      }
    }
    fields.push_back(std::move(field));
    if (line.empty()) return fields;
    line.remove_prefix(1);
  }
}

CsvColumns CsvColumns::from_first_line(const std::vector<std::string>& fields, bool& is_header) {
  CsvColumns columns;
  const auto path = std::ranges::find_if(fields, is_path_column);
  is_header = path != fields.end();
  if (!is_header) return columns;
  columns.path_ = static_cast<std::size_t>(path - fields.begin());
  columns.labels_.emplace();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (i != columns.path_ && is_label_column(fields[i])) columns.labels_->push_back(i);
  if (columns.labels_->empty()) columns.labels_.reset();
  return columns;
}

Result<Row> CsvColumns::row(std::vector<std::string>&& fields) const {
  Row row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == path_) {
      row.path = std::move(fields[i]);
    } else if (!labels_ || std::ranges::find(*labels_, i) != labels_->end()) {
      row.labels.push_back(std::move(fields[i]));
    }
  }
  if (row.path.empty())
    return Error(Code::invalid, fmt::format("field {}: the path is empty", path_ + 1));
  if (row.labels.empty() || (labels_ && row.labels.size() != labels_->size()))
    return Error(Code::invalid, fmt::format("{} fields, and a label is missing", fields.size()));
  return row;
}

Kind kind_of(std::string_view name, std::string_view first_line) {
  if (name.ends_with(".lst")) return Kind::lst;
  if (name.ends_with(".csv")) return Kind::csv;
  if (name.ends_with(".manifest") || name.ends_with(".jsonl") || first_line.starts_with('{'))
    return Kind::manifest;
  return std::ranges::count(first_line, '\t') >= 2 ? Kind::lst : Kind::csv;
}

}  // namespace headrace::list
