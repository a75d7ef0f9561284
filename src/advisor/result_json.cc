// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/result_json.h"

namespace headrace::advisor {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json facts_json(const Manageability& facts) {
  return {{"count", facts.count()},
          {"steps", facts.steps},
          {"resources", facts.resources},
          {"conversion", facts.conversion},
          {"replace_one", facts.replace_one},
          {"standing", facts.standing},
          {"disk", facts.disk}};
}

/// The fields of the contract first and in its order, then ours.
Json row_json(const Row& row, const Table& table, const Manageability& facts) {
  Json json{{"mode", row.mode},
            {"medium", row.medium},
            {"format", row.format},
            {"status", to_string(row.status)},
            {"why", row.why.empty() ? Json(nullptr) : Json(row.why)}};
  for (const char* measured :
       {"launch_seconds", "samples_per_second", "first_epoch_seconds", "later_epoch_seconds",
        "total_seconds", "spread", "accelerator_busy", "cost_usd", "bytes_origin", "bytes_cache",
        "requests", "cold", "order_digest", "set_digest", "order_digests", "samples", "epochs",
        "totals"}) {
    json[measured] = nullptr;
  }
  if (row.figures) {
    const auto& figures = *row.figures;
    json["launch_seconds"] = figures.launch_seconds;
    json["samples_per_second"] = figures.samples_per_second;
    json["first_epoch_seconds"] = figures.first_epoch_seconds;
    json["later_epoch_seconds"] = or_null(figures.later_epoch_seconds);
    json["total_seconds"] = figures.total_seconds;
    json["spread"] = or_null(figures.spread);
    json["accelerator_busy"] = or_null(figures.accelerator_busy);
    json["cost_usd"] = or_null(figures.cost_usd);
    json["bytes_origin"] = figures.bytes_origin;
    json["bytes_cache"] = figures.bytes_cache;
    json["requests"] = figures.requests;
    json["cold"] = to_string(figures.cold);
    json["order_digest"] = figures.order_digests.front();
    json["set_digest"] = figures.set_digest;
    json["order_digests"] = figures.order_digests;
    json["samples"] = figures.samples;
    json["epochs"] = figures.epochs;
    json["totals"] = figures.totals;
  }
  json["partial_reads"] = row.partial_reads;
  json["keep_medium"] = row.keep_medium;
  json["scale"] = row.scale;
  json["scaled_total_seconds"] = or_null(row.scaled_total_seconds());
  json["published_seconds"] = or_null(row.published_seconds);
  json["fitted"] = row.fitted;
  json["table"] = table.spec.name;
  json["uri"] = row.uri;
  json["manageability"] = facts_json(facts);
  return json;
}

Json recommendation_json(const Recommendation& advice) {
  return {{"mode", or_null(advice.mode)},
          {"because", advice.because},
          {"runner_up", or_null(advice.runner_up)},
          {"format", advice.mode ? Json(advice.format) : Json(nullptr)},
          {"partial_reads", advice.partial_reads}};
}

Json table_json(const Table& table) {
  auto sets = Json::array();
  for (std::size_t i = 0; i < table.sets.size(); ++i) {
    const auto& info = table.sets[i];
    sets.push_back({{"uri", table.spec.sets[i].uri},
                    {"local", table.spec.sets[i].local},
                    {"with", table.spec.sets[i].with},
                    {"format", info.format},
                    {"samples", info.samples},
                    {"bytes", info.bytes},
                    {"source_set_digest", or_null(info.source_set_digest)}});
  }
  return {{"name", table.spec.name},
          {"sets", sets},
          {"repeats", table.spec.repeats},
          {"options", table.spec.read_flags},
          {"recommendation", recommendation_json(table.recommendation)}};
}

Json instance_json(const std::optional<InstancePrice>& instance) {
  if (!instance) return nullptr;
  return {{"type", instance->type},
          {"usd_per_hour", instance->usd_per_hour},
          {"dated", instance->dated},
          {"verified", instance->verified},
          {"source", instance->source}};
}

}  // namespace

nlohmann::ordered_json to_json(const Comparison& comparison) {
  auto rows = Json::array();
  auto tables = Json::array();
  for (const auto& table : comparison.tables) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      rows.push_back(row_json(table.rows[i], table, table.facts[i]));
    }
    tables.push_back(table_json(table));
  }
  const auto& machine = comparison.machine;
  return {{"schema", 1},
          {"rows", rows},
          {"recommendation", recommendation_json(comparison.tables.back().recommendation)},
          {"tables", tables},
          {"digests_agree", comparison.disagreements.empty()},
          {"disagreements", comparison.disagreements},
          {"instance", instance_json(comparison.instance)},
          {"machine",
           {{"cpu", machine.cpu},
            {"processors", machine.processors},
            {"memory_bytes", machine.memory_bytes},
            {"system", machine.system}}},
          {"version", comparison.version},
          {"when", comparison.when}};
}

}  // namespace headrace::advisor
