// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/array.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace headrace::manifest {
namespace {

/// Counts lines as the parser goes: it tells none itself.
class Letters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Letters(const char* at, std::uint64_t& line) : at_(at), line_(&line) {}
  reference operator*() const { return *at_; }
  Letters& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  Letters operator++(int) {
    Letters before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Letters& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::uint64_t* line_;
};

/// What nlohmann::json::sax_parse calls. Each says whether to go on.
class Handler {
 public:
  Handler(Array& array, const std::uint64_t& line) : array_(array), line_(line) {}

  bool start_array(std::size_t /*size*/) {
    return depth_++ == 0 || refuse("a list within the list");
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool start_object(std::size_t /*size*/) {
    if (depth_ == 0) return refuse("no list");
    if (seen_++ != 0) return refuse("an object where a name should be");
    in_object_ = true;
    return true;
  }
  bool key(std::string& name) {
    is_prefix_ = name == "prefix";
    return true;
  }
  bool end_object() {
    in_object_ = false;
    return !array_.prefix.empty() || refuse("no \"prefix\"");
  }
  bool string(std::string& text) {
    if (depth_ == 0) return refuse("no list");
    if (in_object_) {
      if (is_prefix_) array_.prefix = text;
      return true;
    }
    if (seen_++ == 0) return refuse("the first of the list is no {\"prefix\": …}");
    array_.names.push_back({.name = std::move(text), .line = line_});
    return true;
  }
  bool null() { return other(); }
  bool boolean(bool /*value*/) { return other(); }
  bool number_integer(std::int64_t /*value*/) { return other(); }
  bool number_unsigned(std::uint64_t /*value*/) { return other(); }
  bool number_float(double /*value*/, const std::string& /*text*/) { return other(); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return other(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    return refuse("no JSON");
  }

  /// Empty if nothing was refused.
  const std::string& refused() const { return refused_; }

 private:
  bool other() { return in_object_ || refuse("a name that is no text"); }
  bool refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
    return false;
  }

  Array& array_;
  const std::uint64_t& line_;
  std::string refused_;
  int depth_ = 0;
  std::size_t seen_ = 0;
  bool in_object_ = false;
  bool is_prefix_ = false;
};

}  // namespace

bool is_array(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '[' &&
         text.find("\"prefix\"") != std::string_view::npos;
}

Result<Array> parse_array(std::string_view text) {
  Array array;
  std::uint64_t line = 1;
  std::uint64_t ignored = 0;
  Handler handler(array, line);
  const bool whole = nlohmann::json::sax_parse(
      Letters(text.data(), line), Letters(text.data() + text.size(), ignored), &handler);
  if (whole && handler.refused().empty() && !array.prefix.empty()) return array;
  return Error(Code::invalid, handler.refused().empty() ? "no \"prefix\"" : handler.refused(),
               "a manifest is [{\"prefix\": \"s3://bucket/folder/\"}, \"name\", …]")
      .at(fmt::format("line {}", line));
}

}  // namespace headrace::manifest
