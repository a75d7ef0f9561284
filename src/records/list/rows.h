// SPDX-License-Identifier: Apache-2.0
/// \file The lines of a `.lst` or `.csv`: a path and its labels. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::list {

enum class Kind { lst, csv, manifest };

struct Row {
  std::string path;
  std::vector<std::string> labels;  ///< at least one, as they are written
};

/// `index<TAB>label…<TAB>path`, spaces around fields removed, as MXNet does.
///  * nothing     a blank line
///  * `invalid`   fewer than three fields, an index that is no number, an empty path
Result<std::optional<Row>> parse_lst(std::string_view line);

/// The fields of one line. Quoted as in RFC 4180, but within the line.
Result<std::vector<std::string>> split_csv(std::string_view line);

/// Which column is the path; the others are labels.
class CsvColumns {
 public:
  /// If the first line names its columns (one is called path, key, file, filename or image), it is
  /// taken as such, and columns called neither so nor `label…` or `class…` are left out. Else the
  /// path is the first column.
  static CsvColumns from_first_line(const std::vector<std::string>& fields, bool& is_header);

  Result<Row> row(std::vector<std::string>&& fields) const;

 private:
  std::size_t path_ = 0;
  std::optional<std::vector<std::size_t>> labels_;  ///< absent: all but the path
};

/// A label as a number, spaces around it allowed.
std::optional<float> to_number(std::string_view label);

/// By the name's end, else by the first line: a JSON object makes it an augmented manifest, two
/// tabs a `.lst`.
Kind kind_of(std::string_view name, std::string_view first_line);

}  // namespace headrace::list
