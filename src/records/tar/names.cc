// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/names.h"

namespace headrace::tar {
namespace {

std::string_view base_of(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

/// "__meta__", and all in a folder of such a name.
bool is_meta(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

/// Where the key of a name with a hidden base ends, "x/.hidden.jpg": at the folder's slash, if the
/// folder's own name has no dot. Nothing else fits webdataset's expression.
bool folder_can_be_key(std::string_view folder) {
  if (folder.empty()) return false;
  const std::string_view own = base_of(folder.substr(0, folder.size() - 1));
  return own.find('.') == std::string_view::npos;
}

}  // namespace

bool is_macos_junk(std::string_view name) {
  const std::string_view base = base_of(name);
  return base.starts_with("._") || base == ".DS_Store";
}

std::optional<MemberName> split_name(std::string_view name) {
  if (is_meta(name) || is_macos_junk(name)) return std::nullopt;
  const std::string_view base = base_of(name);
  const auto dot = base.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view key = name.substr(0, name.size() - base.size() + dot);
  if (dot == 0 && !folder_can_be_key(key)) return std::nullopt;
  MemberName member{.key = key, .field = std::string(base.substr(dot + 1))};
  for (char& letter : member.field)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return member;
}

}  // namespace headrace::tar
