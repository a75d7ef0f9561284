// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/url.h"

#include <algorithm>
#include <array>

namespace headrace::s3 {
namespace {

constexpr std::array<bool, 256> make_kept() {
  std::array<bool, 256> kept{};
  for (unsigned char c = 'a'; c <= 'z'; ++c) kept[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) kept[c] = true;
  for (unsigned char c = '0'; c <= '9'; ++c) kept[c] = true;
  for (const char c : {'-', '.', '_', '~'}) kept[static_cast<unsigned char>(c)] = true;
  return kept;
}
constexpr std::array<bool, 256> kKept = make_kept();

std::string encode(std::string_view text, bool keep_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size() + 16);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kKept[byte] || (keep_slash && c == '/')) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4U];
      encoded += kDigits[byte & 15U];
    }
  }
  return encoded;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string encode_path(std::string_view key) { return encode(key, true); }
std::string encode_query(std::string_view text) { return encode(text, false); }

std::string decode_form(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string canonical_query(const Query& query) {
  Query encoded;
  encoded.reserve(query.size());
  for (const auto& [name, value] : query)
    encoded.emplace_back(encode_query(name), encode_query(value));
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    if (!text.empty()) text += '&';
    text += name + "=" + value;
  }
  return text;
}

}  // namespace headrace::s3
