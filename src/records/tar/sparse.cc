// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "headrace/records/tar/header.h"
#include "headrace/records/tar/pax.h"

namespace headrace::tar {
namespace {

// A picture with holes is odd; one of a gigabyte is a way to fill the memory of who reads it.
constexpr std::uint64_t kMaxSize = 1U << 30U;
constexpr std::size_t kMaxRuns = 100'000;

constexpr std::size_t kRunBytes = 24;

Result<void> parse_runs(ByteSpan fields, std::size_t count, SparseMap& map) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto field = fields.subspan(i * kRunBytes, kRunBytes);
    if (field.front() == std::byte{0}) return {};
    if (map.runs.size() == kMaxRuns) return Error(Code::corrupt, "too many holes");
    HEADRACE_TRY(const auto offset, parse_number(field.first(12)));
    HEADRACE_TRY(const auto bytes, parse_number(field.subspan(12)));
    map.runs.push_back({.offset = offset, .bytes = bytes});
  }
  return {};
}

/// "offset,bytes,offset,bytes"
Result<void> parse_list(std::string_view text, SparseMap& map) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    HEADRACE_TRY(const auto number, parse_decimal(text.substr(0, comma)));
    if (numbers.size() == 2 * kMaxRuns) return Error(Code::corrupt, "too many holes");
    numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    map.runs.push_back({.offset = numbers[i], .bytes = numbers[i + 1]});
  return {};
}

/// A decimal number and a newline at `at`, which moves behind it.
Result<std::uint64_t> take_line(std::string_view data, std::size_t& at) {
  const auto end = data.find('\n', at);
  if (end == std::string_view::npos) return Error(Code::corrupt, "a map of holes that has no end");
  const auto line = data.substr(at, end - at);
  at = end + 1;
  return parse_decimal(line);
}

/// pax 1.0: "runs\noffset\nbytes\n…", filled up to a whole block.
Result<std::size_t> take_map(std::string_view data, SparseMap& map) {
  std::size_t at = 0;
  HEADRACE_TRY(const auto runs, take_line(data, at));
  if (runs > kMaxRuns) return Error(Code::corrupt, "too many holes");
  for (std::uint64_t i = 0; i < runs; ++i) {
    HEADRACE_TRY(const auto offset, take_line(data, at));
    HEADRACE_TRY(const auto bytes, take_line(data, at));
    map.runs.push_back({.offset = offset, .bytes = bytes});
  }
  return padded(at);
}

}  // namespace

Result<bool> parse_gnu_sparse(ByteSpan header, SparseMap& map) {
  HEADRACE_TRY(map.size, parse_number(header.subspan(483, 12)));
  HEADRACE_TRY(parse_runs(header.subspan(386), 4, map));
  return header[482] != std::byte{0};
}

Result<bool> parse_gnu_more(ByteSpan block, SparseMap& map) {
  HEADRACE_TRY(parse_runs(block, 21, map));
  return block[504] != std::byte{0};
}

Result<std::optional<SparseMap>> parse_pax_sparse(
    const std::vector<std::pair<std::string_view, std::string_view>>& records) {
  SparseMap map;
  bool found = false;
  bool has_offset = false;
  std::uint64_t offset = 0;
  for (const auto& [key, value] : records) {
    if (!key.starts_with("GNU.sparse.")) continue;
    const std::string_view what = key.substr(11);
    if (what == "size" || what == "realsize") {
      HEADRACE_TRY(map.size, parse_decimal(value));
      found = true;
    } else if (what == "offset") {
      HEADRACE_TRY(offset, parse_decimal(value));
      has_offset = true;
    } else if (what == "numbytes") {
      HEADRACE_TRY(const auto bytes, parse_decimal(value));
      if (!has_offset || map.runs.size() == kMaxRuns)
        return Error(Code::corrupt, "holes out of order");
      map.runs.push_back({.offset = offset, .bytes = bytes});
      has_offset = false;
    } else if (what == "map") {
      HEADRACE_TRY(parse_list(value, map));
    } else if (what == "major") {
      if (value != "1" && value != "0")
        return Error(Code::corrupt, fmt::format("holes of version \"{}\"", value.substr(0, 20)));
      map.map_in_data = value == "1";
    }
  }
  return found ? std::optional(std::move(map)) : std::nullopt;
}

Result<Bytes> expand(const SparseMap& map, const Bytes& data) {
  SparseMap whole{.size = map.size, .runs = map.runs};
  std::size_t at = 0;
  if (map.map_in_data) {
    HEADRACE_TRY(at, take_map(data.text(), whole));
  }
  if (whole.size > kMaxSize)
    return Error(Code::corrupt, fmt::format("a member with holes of {} bytes", whole.size));
  Buffer expanded(whole.size);
  std::ranges::fill(expanded.span(), std::byte{0});
  for (const Run& run : whole.runs) {
    if (at > data.size() || run.bytes > data.size() - at || run.offset > whole.size ||
        run.bytes > whole.size - run.offset)
      return Error(Code::corrupt, "a member whose holes do not fit its data");
    if (run.bytes != 0) std::memcpy(expanded.data() + run.offset, data.data() + at, run.bytes);
    at += run.bytes;
  }
  return std::move(expanded).freeze(whole.size);
}

}  // namespace headrace::tar
