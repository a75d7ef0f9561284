// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/key_space.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr std::size_t kMostCharacters = 4096;  // Chinese names: enough of them
constexpr std::size_t kDigits = 16;            // of a fraction: a double holds no more
constexpr char32_t kNoText = 0x110000;         // bytes that are no UTF-8 lie above it

/// The bytes of a text are in the order of its characters, so either may be compared.
std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    char32_t character = size == 1 ? first : first & (0x7FU >> size);
    bool good = size != 0 && size <= text.size();
    for (std::size_t i = 1; good && i < size; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      good = (next & 0xC0U) == 0x80;
      character = character << 6U | (next & 0x3FU);
    }
    characters += good ? character : kNoText + first;
    text.remove_prefix(good ? size : 1);
  }
  return characters;
}

/// Up to what is no text.
std::string text_of(std::u32string_view characters) {
  std::string text;
  for (const char32_t c : characters) {
    const auto byte = [&text, c](unsigned shift, unsigned mark, unsigned mask) {
      text += static_cast<char>(mark | ((c >> shift) & mask));
    };
    if (c >= kNoText || (c >= 0xD800 && c < 0xE000)) break;
    if (c < 0x80) {
      byte(0, 0, 0x7F);
    } else if (c < 0x800) {
      byte(6, 0xC0, 0x1F);
      byte(0, 0x80, 0x3F);
    } else if (c < 0x10000) {
      byte(12, 0xE0, 0x0F);
      byte(6, 0x80, 0x3F);
      byte(0, 0x80, 0x3F);
    } else {
      byte(18, 0xF0, 0x07);
      byte(12, 0x80, 0x3F);
      byte(6, 0x80, 0x3F);
      byte(0, 0x80, 0x3F);
    }
  }
  return text;
}

std::size_t shared_by(std::u32string_view a, std::u32string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void KeySpace::saw(std::string_view key) {
  const auto add = [this](char32_t c) {
    const auto at = std::ranges::lower_bound(characters_, c);
    if (at == characters_.end() || *at != c) characters_.insert(at, c);
  };
  for (const char32_t c : characters_of(key)) {
    if (characters_.size() >= kMostCharacters || c >= kNoText) continue;
    if (c >= U'0' && c <= U'9') {
      for (char32_t digit = U'0'; digit <= U'9'; ++digit) add(digit);
    } else {
      add(c);
    }
  }
}

/// As a fraction of 1, from the given place on. An end counts as less than any character.
double KeySpace::value(std::u32string_view key, std::size_t from) const {
  const double base = static_cast<double>(characters_.size()) + 1;
  double value = 0;
  double weight = 1 / base;
  for (std::size_t i = from; i < key.size() && i < from + kDigits; ++i) {
    const auto at = std::ranges::lower_bound(characters_, key[i]) - characters_.begin();
    value += weight * std::min(static_cast<double>(at) + 1, base - 1);
    weight /= base;
  }
  return value;
}

double KeySpace::share_left(std::string_view begin, std::string_view at,
                            const std::optional<std::string>& end) const {
  const auto low = characters_of(begin);
  const auto middle = characters_of(at);
  const auto high = end ? characters_of(*end) : std::u32string();
  const std::size_t shared = end ? shared_by(low, high) : 0;
  const double first = value(low, shared);
  const double last = end ? value(high, shared) : 1;
  if (last <= first) return 0;
  return std::clamp((last - value(middle, shared)) / (last - first), 0.0, 1.0);
}

std::string KeySpace::middle(std::string_view low, const std::optional<std::string>& high) const {
  const auto below = characters_of(low);
  const auto above = high ? characters_of(*high) : std::u32string();
  const std::size_t shared = high ? shared_by(below, above) : 0;
  const double base = static_cast<double>(characters_.size()) + 1;
  double left = (value(below, shared) + (high ? value(above, shared) : 1)) / 2;
  std::u32string guess = below.substr(0, shared);
  for (std::size_t i = 0; i < kDigits; ++i) {
    left *= base;
    const auto digit = std::min(static_cast<std::size_t>(left), characters_.size());
    if (digit == 0) return {};
    left -= static_cast<double>(digit);
    guess += characters_[digit - 1];
    std::string text = text_of(guess);
    if (text > low) return !high || text < *high ? text : std::string();
  }
  return {};
}

std::vector<std::string> KeySpace::behind_prefixes(std::string_view key, std::size_t most) {
  const auto characters = characters_of(key);
  std::vector<std::string> behind;
  for (std::size_t i = 0; i < characters.size() && behind.size() < most; ++i) {
    std::u32string prefix = characters.substr(0, i + 1);
    prefix.back() = prefix.back() == 0xD7FF ? 0xE000 : prefix.back() + 1;
    if (std::string text = text_of(prefix); text > key) behind.push_back(std::move(text));
  }
  return behind;
}

}  // namespace headrace
