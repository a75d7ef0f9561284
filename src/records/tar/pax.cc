// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/pax.h"

#include <fmt/format.h>

#include <cstdint>

#include "headrace/base/parse_number.h"

namespace headrace::tar {

Result<std::uint64_t> parse_decimal(std::string_view text) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 63U;
  const auto value = parse_number<std::uint64_t>(text);
  if (!value || *value >= kMax)
    return Error(Code::corrupt, fmt::format("\"{}\" is no number", text.substr(0, 40)));
  return *value;
}

Result<std::vector<std::pair<std::string_view, std::string_view>>> parse_pax(ByteSpan records) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  std::string_view rest = as_text(records);
  while (!rest.empty()) {
    const auto space = rest.find(' ');
    if (space > 20)  // or none
      return Error(Code::corrupt, "a pax record without a length");
    HEADRACE_TRY(const auto length, parse_decimal(rest.substr(0, space)));
    if (length <= space + 1 || length > rest.size() || rest[length - 1] != '\n')
      return Error(Code::corrupt, fmt::format("a pax record of {} bytes that is none", length));
    const std::string_view record = rest.substr(space + 1, length - space - 2);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos)
      return Error(Code::corrupt, "a pax record without a value");
    pairs.emplace_back(record.substr(0, equals), record.substr(equals + 1));
    rest.remove_prefix(length);
  }
  return pairs;
}

}  // namespace headrace::tar
