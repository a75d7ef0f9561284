// SPDX-License-Identifier: Apache-2.0
/// \file Percent-encoding as S3 has it, on the wire and in signatures alike. Pure functions.
///
/// One rule fits all keys: A-Z a-z 0-9 - . _ ~ stay, '/' stays in paths, every other byte becomes
/// %XX with capital digits. Nothing is normalised: "a//b", "." and ".." mean themselves.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::s3 {

/// '/' stays.
std::string encode_path(std::string_view key);
/// '/' is encoded too.
std::string encode_query(std::string_view text);
/// What a server sends under encoding-type=url: '+' is a space; a '%' without two digits stays.
std::string decode_form(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
/// "a=1&b=": encoded and sorted, as a signature wants it and as it is sent.
std::string canonical_query(const Query& query);

}  // namespace headrace::s3
