// SPDX-License-Identifier: Apache-2.0
/// \file A SideKey as bytes, and one side entry as a file: what the side stores share.
#pragma once

#include <optional>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/storage/side_store.h"

namespace headrace {

/// Equal for equal keys, different for different ones.
std::string side_key_bytes(const SideKey& key);

/// "HRSIDE1\n", then little-endian: u32 length of the key, the key, u64 length of the content,
/// sum modulo 2^128 of XXH3-128 of all before it and of the content (high half first), the content.
std::string encode_side_entry(const SideKey& key, ByteSpan content);

/// The content; nothing if the bytes are damaged or belong to another key.
std::optional<Bytes> decode_side_entry(const SideKey& key, const Bytes& file);

}  // namespace headrace
