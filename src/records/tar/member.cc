// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "headrace/base/text.h"
#include "headrace/records/picture_kind.h"
#include "headrace/records/tar/header.h"
#include "headrace/records/tar/names.h"

namespace headrace::tar {
namespace {

constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kPrefixBytes = 155;

/// Where ustar cuts a name into prefix and name: at a slash, so that both fit. 0: it need not or
/// cannot.
std::size_t cut_of(std::string_view name) {
  if (name.size() <= kNameBytes) return 0;
  const auto from = name.size() - kNameBytes - 1;  // the earliest slash that leaves a short name
  const auto slash = name.find('/', from);
  const bool fits = slash <= kPrefixBytes && slash + 1 != name.size();  // none: npos does not
  return fits ? slash : 0;
}

void append_header(std::string_view name, std::string_view prefix, std::uint64_t size, char type,
                   std::vector<std::byte>& out) {
  std::string block(kBlock, '\0');
  const auto put = [&block](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));  // payloads are below 8 GiB
  put(136, "00000000000");
  put(148, "        ");
  block[156] = type;
  put(257, "ustar");
  put(263, "00");
  put(329, "0000000");
  put(337, "0000000");
  put(345, prefix);
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  const auto bytes = as_byte_span(block);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_padded(ByteSpan data, std::vector<std::byte>& out) {
  out.insert(out.end(), data.begin(), data.end());
  out.resize(out.size() + padded(data.size()) - data.size());
}

/// "LENGTH path=NAME\n"; the length counts its own digits.
std::string path_record(std::string_view name) {
  std::size_t length = name.size() + 7;
  length += std::to_string(length).size();
  if (std::to_string(length).size() + name.size() + 7 != length) ++length;
  return fmt::format("{} path={}\n", length, name);
}

std::string_view suffix_for(ByteSpan picture) {
  const std::string_view kind = picture_kind(picture);
  return kind == "png" || kind == "webp" ? kind : "jpg";
}

bool is_picture_suffix(std::string_view suffix) {
  constexpr std::array<std::string_view, 4> kPictures = {"jpg", "jpeg", "png", "webp"};
  return std::ranges::find(kPictures, lower(suffix)) != kPictures.end();
}

}  // namespace

void append_member(std::string_view name, ByteSpan data, std::vector<std::byte>& out) {
  const std::size_t cut = cut_of(name);
  if (name.size() > kNameBytes && cut == 0) {
    const std::string record = path_record(name);
    append_header("PaxHeader", {}, record.size(), 'x', out);
    append_padded(as_byte_span(record), out);
    append_header(name.substr(0, kNameBytes), {}, data.size(), '0', out);
  } else if (cut != 0) {
    append_header(name.substr(cut + 1), name.substr(0, cut), data.size(), '0', out);
  } else {
    append_header(name, {}, data.size(), '0', out);
  }
  append_padded(data, out);
}

void append_end(std::uint64_t size, std::vector<std::byte>& out) {
  constexpr std::uint64_t kRecord = 20 * kBlock;
  const std::uint64_t end = (size + 2 * kBlock + kRecord - 1) / kRecord * kRecord;
  out.resize(out.size() + static_cast<std::size_t>(end - size));
}

SampleName name_sample(std::string_view file, std::uint64_t id, ByteSpan picture,
                       std::string_view previous) {
  SampleName name{.key = fmt::format("{:09}", id), .picture = std::string(suffix_for(picture))};
  const auto dot = file.rfind('.');
  const auto slash = file.rfind('/');
  if (file.empty() || file.find('\0') != std::string_view::npos) return name;
  const bool has_suffix = dot != std::string_view::npos &&
                          (slash == std::string_view::npos || dot > slash) &&
                          is_picture_suffix(file.substr(dot + 1));
  const std::string_view stem = has_suffix ? file.substr(0, dot) : file;
  if (has_suffix) name.picture = std::string(file.substr(dot + 1));
  // Only a name that is split again where it was joined keeps its sample whole and apart.
  const std::string whole = fmt::format("{}.{}", stem, name.picture);
  const auto split = split_name(whole);
  if (split && split->key == stem && stem != previous) {
    name.key = std::string(stem);
    return name;
  }
  const std::string folder(slash == std::string_view::npos ? "" : file.substr(0, slash + 1));
  const std::string numbered = folder + name.key;
  const auto again = split_name(fmt::format("{}.{}", numbered, name.picture));
  if (again && again->key == numbered && numbered != previous) name.key = numbered;
  return name;
}

std::string cls_text(std::span<const float> labels) {
  if (labels.size() != 1 || labels[0] != std::trunc(labels[0]) || std::abs(labels[0]) > 1e15F)
    return {};
  return std::to_string(static_cast<std::int64_t>(labels[0]));
}

std::string json_text(std::span<const float> labels) {
  nlohmann::json list = nlohmann::json::array();
  for (const float label : labels) list.push_back(label);
  return nlohmann::json{{"label", list}}.dump();
}

}  // namespace headrace::tar
