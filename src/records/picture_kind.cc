// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/picture_kind.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "headrace/base/looks_like.h"
#include "headrace/records/picture_end.h"

namespace headrace {
namespace {

using namespace std::string_view_literals;

bool webp(std::string_view text) { return text.starts_with("RIFF") && text.substr(8, 4) == "WEBP"; }

}  // namespace

std::string_view picture_kind(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  if (text.empty()) return "empty";
  if (text.size() >= 12 && webp(text)) return "webp";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMagic = {{
      {"\xff\xd8\xff"sv, "jpeg"},
      {"\x89PNG\r\n\x1a\n"sv, "png"},
      {"GIF87a"sv, "gif"},
      {"GIF89a"sv, "gif"},
      {"BM"sv, "bmp"},
      {"II*\0"sv, "tiff"},
      {"MM\0*"sv, "tiff"},
  }};
  for (const auto& [magic, kind] : kMagic)
    if (text.starts_with(magic)) return kind;
  return "unknown";
}

std::string_view picture_suffix(ByteSpan bytes) {
  const std::string_view kind = picture_kind(bytes);
  if (kind == "jpeg") return "jpg";
  return kind == "empty" || kind == "unknown" ? "bin" : kind;
}

bool is_picture_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kSuffixes = {"jpg", "jpeg", "png",  "webp",
                                                         "gif", "bmp",  "tiff", "bin"};
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string suffix(name.substr(dot + 1));
  for (char& letter : suffix)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return std::ranges::find(kSuffixes, suffix) != kSuffixes.end();
}

std::string picture_problem(ByteSpan bytes) {
  const std::string_view kind = picture_kind(bytes);
  if (kind == "empty") return "an empty picture";
  if (kind == "unknown") return "no picture of a known kind: " + begins_with_what(bytes);
  if (kind == "jpeg") return std::string(jpeg_end_problem(bytes));
  if (kind == "png") return std::string(png_end_problem(bytes));
  if (kind == "webp") return std::string(webp_end_problem(bytes));
  return {};
}

}  // namespace headrace
