// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace headrace::mds {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxBytes = 1ULL << 32U;  // offsets in a shard have 32 bits

Error wrong(std::string what) { return {Code::corrupt, std::move(what)}; }

Result<std::string> text_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return wrong(fmt::format("no \"{}\"", name));
  return found->get<std::string>();
}

Result<std::uint64_t> number_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned())
    return wrong(fmt::format("no number \"{}\"", name));
  return found->get<std::uint64_t>();
}

Result<const Json*> list_at(const Json& json, const char* name, std::size_t size) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() != size)
    return wrong(fmt::format("no list \"{}\" for {} columns", name, size));
  return &*found;
}

/// A name from the index becomes a key: it must stay in the folder of the index.
Result<void> check_basename(const std::string& name) {
  bool stays = !name.empty() && name.front() != '/' && name.find('\0') == std::string::npos;
  for (std::size_t at = 0; stays && at <= name.size();) {
    const auto slash = std::min(name.find('/', at), name.size());
    const auto part = std::string_view(name).substr(at, slash - at);
    stays = !part.empty() && part != "." && part != "..";
    at = slash + 1;
  }
  if (stays) return {};
  return Error(Code::corrupt, fmt::format("basename \"{}\" leaves the folder of the set", name));
}

Result<File> file_at(const Json& json) {
  if (!json.is_object()) return wrong("no file");
  File file;
  HEADRACE_TRY(file.basename, text_at(json, "basename"));
  HEADRACE_TRY(check_basename(file.basename));
  HEADRACE_TRY(file.bytes, number_at(json, "bytes"));
  if (file.bytes >= kMaxBytes) return wrong(fmt::format("a shard of {} bytes", file.bytes));
  const auto hashes = json.find("hashes");
  if (hashes == json.end() || !hashes->is_object()) return file;
  for (const auto& [name, value] : hashes->items())
    if (value.is_string()) file.hashes.emplace(name, value.get<std::string>());
  return file;
}

Result<std::vector<Column>> columns_of(const Json& json) {
  const auto names = json.find("column_names");
  if (names == json.end() || !names->is_array() || names->empty())
    return wrong("no \"column_names\"");
  HEADRACE_TRY(const Json* encodings, list_at(json, "column_encodings", names->size()));
  HEADRACE_TRY(const Json* sizes, list_at(json, "column_sizes", names->size()));
  std::vector<Column> columns;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const Json& name = (*names)[i];
    const Json& encoding = (*encodings)[i];
    const Json& size = (*sizes)[i];
    if (!name.is_string() || !encoding.is_string() ||
        !(size.is_null() || size.is_number_unsigned()))
      return wrong(fmt::format("column {} is described wrongly", i));
    columns.push_back({.name = name.get<std::string>(), .encoding = encoding.get<std::string>()});
    if (size.is_number_unsigned()) columns.back().size = size.get<std::uint64_t>();
    if (columns.back().size.value_or(0) >= kMaxBytes)
      return wrong(fmt::format("a column of {} bytes", *columns.back().size));
    if (i != 0 && columns[i - 1].name >= columns[i].name)
      return wrong("columns that are not in byte order of their names");
  }
  return columns;
}

/// "zstd:7": the level does not matter to who reads.
Result<Codec> codec_named(std::string_view compression) {
  const std::string_view name = compression.substr(0, compression.find(':'));
  if (name == "zstd") return Codec::zstd;
  if (name == "gz") return Codec::gzip;
  if (name == "bz2") return Codec::bzip2;
  if (name == "br") return Codec::brotli;
  if (name == "snappy") return Codec::snappy;
  return Error(Code::invalid, fmt::format("unknown compression \"{}\"", compression));
}

Result<Shard> shard_of(const Json& json) {
  if (!json.is_object()) return wrong("no shard");
  HEADRACE_TRY(const auto format, text_at(json, "format"));
  if (format != "mds") {
    return Error(Code::invalid, fmt::format("format \"{}\"", format),
                 "only mds is read; streaming's csv, json and xsv are not");
  }
  HEADRACE_TRY(const auto version, number_at(json, "version"));
  if (version != 2) return Error(Code::invalid, fmt::format("version {}, not 2", version));
  Shard shard;
  HEADRACE_TRY(shard.columns, columns_of(json));
  HEADRACE_TRY(shard.samples, number_at(json, "samples"));
  if (shard.samples >= kMaxBytes / 4) return wrong(fmt::format("{} samples", shard.samples));
  const auto raw = json.find("raw_data");
  if (raw == json.end()) return wrong("no \"raw_data\"");
  HEADRACE_TRY(shard.raw, file_at(*raw));
  const auto zip = json.find("zip_data");
  if (zip == json.end() || zip->is_null()) return shard;
  HEADRACE_TRY(shard.zip, file_at(*zip));
  HEADRACE_TRY(const auto compression, text_at(json, "compression"));
  HEADRACE_TRY(shard.codec, codec_named(compression));
  return shard;
}

}  // namespace

bool is_index(ByteSpan first_bytes) {
  const std::string_view text = as_text(first_bytes);
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"shards\"") != std::string_view::npos;
}

Result<std::vector<Shard>> parse_index(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return wrong("no JSON: the index is cut, or none");
  HEADRACE_TRY(const auto version, number_at(json, "version"));
  if (version != 2) {
    return Error(Code::invalid, fmt::format("an MDS index of version {}, not 2", version),
                 "write the set again with a streaming of today");
  }
  const auto shards = json.find("shards");
  if (shards == json.end() || !shards->is_array()) return wrong("no \"shards\"");
  std::vector<Shard> parsed;
  for (const Json& one : *shards) {
    auto shard = shard_of(one);
    if (!shard) return std::move(shard).error().at(fmt::format("shard {}", parsed.size()));
    parsed.push_back(*std::move(shard));
  }
  return parsed;
}

}  // namespace headrace::mds
