// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/lines.h"

#include <fmt/format.h>

namespace headrace {
namespace {

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<std::optional<std::string_view>> LineReader::next() {
  joined_.clear();
  while (true) {
    const std::string_view rest = piece_.text().substr(at_);
    const auto end = rest.find('\n');
    if (joined_.size() + std::min(end, rest.size()) > kMaxLine)
      return Error(Code::invalid, fmt::format("line {} is longer than 1 MiB", number_ + 1));
    if (end != std::string_view::npos) {
      at_ += end + 1;
      ++number_;
      if (joined_.empty()) return std::optional(without_return(rest.substr(0, end)));
      joined_ += rest.substr(0, end);
      return std::optional(without_return(joined_));
    }
    joined_ += rest;
    at_ = 0;
    HEADRACE_TRY(piece_, source_.next());
    if (piece_.empty()) {
      if (joined_.empty()) return std::optional<std::string_view>();
      ++number_;
      return std::optional(without_return(joined_));
    }
  }
}

}  // namespace headrace
