// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/receipts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "headrace/base/json_count.h"
#include "headrace/base/parse_number.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace::converting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlan = "plan.json";
constexpr std::string_view kShard = "shard-";
constexpr unsigned kRequests = 32;

std::string shard_name(std::uint64_t shard) { return fmt::format("{}{:05}.json", kShard, shard); }

std::optional<std::uint64_t> shard_number(std::string_view name) {
  if (!name.starts_with(kShard) || !name.ends_with(".json")) return std::nullopt;
  name.remove_prefix(kShard.size());
  name.remove_suffix(std::string_view(".json").size());
  return parse_number<std::uint64_t>(name);
}

std::string to_text(const Hash128& job, const Receipt& receipt) {
  Json json{{"schema", 1},
            {"job", job.to_hex()},
            {"samples", receipt.written.samples},
            {"bytes", receipt.written.bytes},
            {"payload_bytes", receipt.payload_bytes},
            {"objects", receipt.written.keys},
            {"summary", receipt.written.summary},
            {"skipped", receipt.skipped}};
  json["skipped_samples"] = Json::array();
  for (const SkippedSample& one : receipt.first_skipped)
    json["skipped_samples"].push_back({{"name", one.name}, {"why", one.why}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// Nothing if it is no receipt of this job: then the shard is written again.
std::optional<Receipt> from_text(const Hash128& job, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    if (json.at("job") != job.to_hex()) return std::nullopt;
    Receipt receipt;
    receipt.written.samples = json_count(json.at("samples"));
    receipt.written.bytes = json_count(json.at("bytes"));
    receipt.written.keys = json.at("objects");
    receipt.written.summary = json.at("summary");
    receipt.payload_bytes = json_count(json.at("payload_bytes"));
    receipt.skipped = json_count(json.at("skipped"));
    for (const Json& one : json.at("skipped_samples"))
      receipt.first_skipped.push_back({.name = one.at("name"), .why = one.at("why")});
    return receipt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Whether a shard's first and last object are there. Its receipt came after them; this finds that
/// someone has tidied up.
Result<bool> is_there(Store& store, const WrittenShard& written, const std::stop_token& stop) {
  if (written.keys.empty()) return true;
  for (const std::string& key : {written.keys.front(), written.keys.back()}) {
    const auto info = store.head(key, stop);
    if (info) continue;
    if (info.error().code() == Code::not_found) return false;
    return info.error();
  }
  return true;
}

Result<std::vector<std::string>> keys_below(Store& store, const std::string& folder,
                                            const std::stop_token& stop) {
  std::vector<std::string> keys;
  const auto listed =
      store.list({.prefix = folder}, stop, [&keys](ListPage&& page) -> Result<bool> {
        for (ObjectInfo& object : page.objects) keys.push_back(std::move(object.key));
        return true;
      });
  if (!listed && listed.error().code() != Code::not_found) return listed.error();
  return keys;
}

}  // namespace

Result<Receipts> Receipts::open(Store& store, const std::string& key, const Hash128& job,
                                bool discard, const std::stop_token& stop) {
  Receipts receipts(store, fmt::format(".headrace/convert/{}/", key), job);
  HEADRACE_TRY(const auto keys, keys_below(store, receipts.folder_, stop));
  if (keys.empty()) return receipts;
  const std::string plan_key = receipts.folder_ + std::string(kPlan);
  std::string before;
  if (std::ranges::find(keys, plan_key) != keys.end()) {
    HEADRACE_TRY(const auto plan, read_now(store, {.key = plan_key, .stop = stop}));
    const Json json = Json::parse(plan.bytes.text(), nullptr, false);
    if (json.is_object() && json.contains("job") && json["job"].is_string()) before = json["job"];
  }
  if (before == job.to_hex()) {
    receipts.begun_ = true;
    HEADRACE_TRY(receipts.read(keys, stop));
    return receipts;
  }
  const bool any_finished = std::ranges::any_of(keys, [&receipts](std::string_view key_there) {
    return shard_number(key_there.substr(receipts.folder_.size())).has_value();
  });
  if (any_finished && !discard) {
    return Error(Code::invalid,
                 "another conversion was begun there and not finished: of another source, or with "
                 "other options",
                 "finish it with its own options, or give --force to discard it")
        .at(object_place(store.describe(), plan_key));
  }
  HEADRACE_TRY(receipts.remove(stop));
  receipts.discarded_ = true;
  return receipts;
}

Result<void> Receipts::read(const std::vector<std::string>& keys, const std::stop_token& stop) {
  std::vector<std::optional<Receipt>> found(keys.size());
  const auto read_one = [&](std::size_t i, const std::stop_token& any_stop) -> Result<void> {
    if (!shard_number(std::string_view(keys[i]).substr(folder_.size()))) return {};
    HEADRACE_TRY(const auto text, read_now(store_, {.key = keys[i], .stop = any_stop}));
    auto receipt = from_text(job_, text.bytes.text());
    if (!receipt) return {};
    HEADRACE_TRY(const bool there, is_there(store_, receipt->written, any_stop));
    if (there) found[i] = std::move(receipt);
    return {};
  };
  HEADRACE_TRY(parallel_for(keys.size(), kRequests, stop, read_one));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) continue;
    const auto number = shard_number(std::string_view(keys[i]).substr(folder_.size()));
    finished_.emplace(*number, *std::move(found[i]));
  }
  return {};
}

Result<void> Receipts::begin(const std::stop_token& stop) {
  const Json json{{"schema", 1}, {"job", job_.to_hex()}};
  HEADRACE_TRY(put(store_, folder_ + std::string(kPlan), as_byte_span(json.dump() + '\n'), stop));
  begun_ = true;
  return {};
}

Result<void> Receipts::add(std::uint64_t shard, const Receipt& receipt,
                           const std::stop_token& stop) const {
  HEADRACE_TRY(
      put(store_, folder_ + shard_name(shard), as_byte_span(to_text(job_, receipt)), stop));
  return {};
}

Result<void> Receipts::remove(const std::stop_token& stop) {
  HEADRACE_TRY(auto keys, keys_below(store_, folder_, stop));
  const auto plan = std::ranges::find(keys, folder_ + std::string(kPlan));
  const bool has_plan = plan != keys.end();
  if (has_plan) keys.erase(plan);
  HEADRACE_TRY(parallel_for(keys.size(), kRequests, stop,
                            [&](std::size_t i, const std::stop_token& any_stop) {
                              return store_.remove(keys[i], any_stop);
                            }));
  if (has_plan) HEADRACE_TRY(store_.remove(folder_ + std::string(kPlan), stop));
  begun_ = false;
  finished_.clear();
  return {};
}

}  // namespace headrace::converting
