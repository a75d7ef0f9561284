// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/side_key.h"

#include <cstring>

#include "headrace/base/digest.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRSIDE1\n";

template <class Number>
void append_number(std::string& to, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i));
  }
}

void append_text(std::string& to, std::string_view text) {
  append_number(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

/// All that precedes the content.
std::string head_of(const SideKey& key, ByteSpan content) {
  std::string head(kMagic);
  append_text(head, side_key_bytes(key));
  append_number(head, static_cast<std::uint64_t>(content.size()));
  Hash128 hash = hash_bytes(as_byte_span(head));
  hash += hash_bytes(content);
  append_number(head, hash.high);
  append_number(head, hash.low);
  return head;
}

}  // namespace

std::string side_key_bytes(const SideKey& key) {
  std::string bytes;
  for (const std::string* text :
       {&key.store, &key.object, &key.kind, &key.pin.etag, &key.pin.version}) {
    append_text(bytes, *text);
  }
  append_number(bytes, key.pin.modified_ns);
  append_number(bytes, key.pin.size);
  append_number(bytes, key.version);
  append_number(bytes, key.offset);
  return bytes;
}

std::string encode_side_entry(const SideKey& key, ByteSpan content) {
  std::string file = head_of(key, content);
  file += as_text(content);
  return file;
}

std::optional<Bytes> decode_side_entry(const SideKey& key, const Bytes& file) {
  // The head for the key and for what seems to be the content must be the head that is there.
  const std::size_t head_size = head_of(key, {}).size();
  if (file.size() < head_size) return std::nullopt;
  Bytes content = file.slice(head_size, file.size() - head_size);
  if (file.text().substr(0, head_size) != head_of(key, content.span())) return std::nullopt;
  return content;
}

}  // namespace headrace
