// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/unpack/inside_index.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

constexpr std::array kCodecs{Codec::gzip, Codec::zstd,   Codec::bzip2,
                             Codec::xz,   Codec::brotli, Codec::snappy};

SideKey key_of(const Store& store, const ObjectInfo& object) {
  return {.store = store.describe(),
          .object = object.key,
          .pin = object.pin,
          .kind = "inside",
          .version = 1};
}

/// Up to the next line end, which is taken off.
std::string_view line_of(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::optional<KnownInside> known_inside(SideStore* kept, const Store& store,
                                        const ObjectInfo& object) {
  if (kept == nullptr) return std::nullopt;
  const auto found = kept->get(key_of(store, object));
  if (!found || !*found) return std::nullopt;
  std::string_view text = (*found)->text();
  const auto name = line_of(text);
  const auto size = parse_number<std::uint64_t>(line_of(text));
  const auto hash = Hash128::from_hex(line_of(text));
  for (const Codec codec : kCodecs) {
    if (name != to_string(codec) || !size || !hash) continue;
    return KnownInside{.codec = codec,
                       .inside = {.size = *size, .hash = *hash, .failure = std::string(text)}};
  }
  return std::nullopt;
}

void keep_inside(SideStore* kept, const Store& store, const ObjectInfo& object,
                 const KnownInside& known) {
  if (kept == nullptr) return;
  const std::string text = fmt::format("{}\n{}\n{}\n{}", to_string(known.codec), known.inside.size,
                                       known.inside.hash.to_hex(), known.inside.failure);
  std::ignore = kept->put(key_of(store, object), as_byte_span(text));
}

}  // namespace headrace
