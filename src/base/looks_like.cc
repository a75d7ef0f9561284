// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/looks_like.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headrace {
namespace {

using namespace std::string_view_literals;

struct Sign {
  std::string_view begin;
  std::string_view what;
  std::size_t at = 0;
};

// What is found where pictures should be: answers of servers that were saved as files, pointers
// instead of files, archives of pictures, pictures of other kinds.
constexpr std::array kSigns = {
    Sign{"version https://git-lfs"sv, "a pointer of Git LFS: the file itself was never fetched"sv},
    Sign{"/annex/objects/"sv, "a pointer of git-annex: the file itself was never fetched"sv},
    Sign{"<?xml"sv, "XML, such as a server's error"sv},
    Sign{"<Error>"sv, "a server's error"sv},
    Sign{"<svg"sv, "an SVG drawing"sv},
    Sign{"<!DOCTYPE"sv, "a page of HTML"sv},
    Sign{"<!doctype"sv, "a page of HTML"sv},
    Sign{"<html"sv, "a page of HTML"sv},
    Sign{"<HTML"sv, "a page of HTML"sv},
    Sign{"/9j/"sv, "a JPEG as base64 text"sv},
    Sign{"iVBORw0KGgo"sv, "a PNG as base64 text"sv},
    Sign{"data:image/"sv, "a data: URL"sv},
    Sign{"\x1f\x8b"sv, "gzip"sv},
    Sign{"\x28\xb5\x2f\xfd"sv, "Zstandard"sv},
    Sign{"PK\x03\x04"sv, "a zip archive"sv},
    Sign{"ustar"sv, "a tar archive"sv, 257},
    Sign{"%PDF"sv, "a PDF"sv},
    Sign{"8BPS"sv, "a Photoshop file"sv},
    Sign{"\x93NUMPY"sv, "a NumPy array"sv},
    Sign{"\x0a\x23\xd7\xce"sv, "a record of RecordIO"sv},
    Sign{"ftyp"sv, "a video or picture of the MP4 family"sv, 4},
    Sign{"OggS"sv, "Ogg"sv},
    Sign{"RIFF"sv, "RIFF, such as WAV or AVI"sv},
    Sign{"\x00\x00\x01\x00"sv, "an icon"sv},
    Sign{"P6"sv, "a PPM picture"sv},
    Sign{"P5"sv, "a PGM picture"sv},
};

bool printable(char letter) { return (letter >= ' ' && letter <= '~') || letter == '\n'; }

bool is_text(char letter) { return printable(letter) || letter == '\t' || letter == '\r'; }

}  // namespace

std::string_view looks_like(ByteSpan bytes) {
  constexpr std::size_t kLooked = 512;
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), kLooked)));
  for (const Sign& sign : kSigns)
    if (text.size() > sign.at && text.substr(sign.at).starts_with(sign.begin)) return sign.what;
  if (text.empty()) return {};
  if (std::ranges::all_of(text, [](char letter) { return letter == '\0'; }))
    return "zeros: a file that was never written, or a hole";
  if (text.front() == '{' || text.front() == '[') return "JSON";
  if (std::ranges::all_of(text, is_text)) return "text";
  return {};
}

std::string begins_with_what(ByteSpan bytes) {
  constexpr std::size_t kShown = 8;
  const ByteSpan first = bytes.first(std::min(bytes.size(), kShown));
  std::string text = "it begins with";
  for (const std::byte byte : first) text += fmt::format(" {:02x}", std::to_integer<int>(byte));
  const std::string_view letters = as_text(first);
  if (std::ranges::all_of(letters, printable) && letters.find('\n') == std::string_view::npos)
    text += fmt::format(" (\"{}\")", letters);
  const std::string_view what = looks_like(bytes);
  if (!what.empty()) text += fmt::format(", which looks like {}", what);
  return text;
}

}  // namespace headrace
