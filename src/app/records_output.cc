// SPDX-License-Identifier: Apache-2.0
#include "records_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "progress_line.h"

namespace headrace::app {
namespace {

using Json = nlohmann::ordered_json;

/// Keys are bytes; JSON is UTF-8: what is none becomes U+FFFD.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json notices_json(const std::vector<Notice>& notices) {
  Json json = Json::array();
  for (const Notice& notice : notices)
    json.push_back({{"kind", notice.kind}, {"text", notice.text}, {"count", notice.count}});
  return json;
}

std::string notices_text(const std::vector<Notice>& notices) {
  std::string text;
  for (const Notice& notice : notices)
    text += fmt::format("note: {} ({} times)\n", notice.text, notice.count);
  return text;
}

Json damage_json(const std::vector<PlacedDamage>& damage) {
  Json json = Json::array();
  for (const PlacedDamage& one : damage) {
    json.push_back({{"begin", one.damage.begin},
                    {"end", one.damage.end},
                    {"why", one.damage.why},
                    {"object", one.key}});
  }
  return json;
}

/// A whole number without a fraction; not a number as null, which JSON has no word for.
Json number_json(float value) {
  constexpr float kWhole = 16'777'216;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) <= kWhole)
    return static_cast<std::int64_t>(value);
  return value;
}

std::string label_name(float label, const std::vector<std::string>& classes) {
  if (label >= 0 && label < static_cast<float>(classes.size()) && label == std::trunc(label))
    return classes[static_cast<std::size_t>(label)];
  return fmt::format("{}", label);
}

}  // namespace

std::string pack_json(const PackReport& report, double seconds,
                      const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"format", "recordio"},
            {"samples", report.samples},
            {"skipped", report.skipped},
            {"payload_bytes", report.payload_bytes},
            {"record_bytes", report.record_bytes},
            {"seconds", seconds},
            {"objects", report.keys}};
  json["skipped_samples"] = Json::array();
  for (const SkippedSample& skipped : report.first_skipped)
    json["skipped_samples"].push_back({{"name", skipped.name}, {"why", skipped.why}});
  json["notices"] = notices_json(notices);
  return dump(json);
}

std::string pack_text(const PackReport& report, double seconds,
                      const std::vector<Notice>& notices) {
  std::string text =
      fmt::format("packed {} samples, {} of pictures, in {:.1f} s ({:.0f}/s)\n", report.samples,
                  human_bytes(static_cast<double>(report.payload_bytes)), seconds,
                  static_cast<double>(report.samples) / std::max(seconds, 1e-9));
  for (const std::string& key : report.keys) text += fmt::format("  {}\n", key);
  if (report.skipped != 0) text += fmt::format("{} samples were left out:\n", report.skipped);
  for (const SkippedSample& skipped : report.first_skipped)
    text += fmt::format("  {}: {}\n", skipped.name, skipped.why);
  return text + notices_text(notices);
}

std::string verify_json(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"end", report.clean() ? "clean" : "damaged"},
            {"samples", report.samples},
            {"good", report.good},
            {"bad", report.bad},
            {"payload_bytes", report.payload_bytes},
            {"smallest", report.smallest},
            {"largest", report.largest},
            {"set_digest", report.set_digest.to_hex()},
            {"pictures", report.kinds}};
  json["classes"] = Json::array();
  for (const auto& [label, samples] : report.labels) {
    json["classes"].push_back({{"label", number_json(label)},
                               {"name", label_name(label, classes)},
                               {"samples", samples}});
  }
  json["damage"] = Json::array();
  for (const BadSample& bad : report.first_bad) {
    json["damage"].push_back({{"begin", bad.begin},
                              {"end", bad.end},
                              {"why", bad.why},
                              {"object", bad.key},
                              {"sample", bad.sample},
                              {"name", bad.name}});
  }
  json["repeated"] = report.repeated;
  json["repeated_pictures"] = Json::array();
  for (const SameContent& same : report.first_repeated) {
    json["repeated_pictures"].push_back({{"count", same.count},
                                         {"bytes", same.bytes},
                                         {"labels_differ", same.labels_differ},
                                         {"names", same.names}});
  }
  json["notices"] = notices_json(notices);
  return dump(json);
}

std::string verify_text(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices) {
  constexpr std::size_t kShown = 20;
  std::string text =
      fmt::format("{}: {} samples, {} good, {} bad; {} of pictures\n",
                  report.clean() ? "clean" : "damaged", report.samples, report.good, report.bad,
                  human_bytes(static_cast<double>(report.payload_bytes)));
  for (const auto& [kind, count] : report.kinds) text += fmt::format("  {:<8} {}\n", kind, count);
  text += fmt::format("{} labels", report.labels.size());
  if (!report.labels.empty()) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] =
        std::minmax_element(report.labels.begin(), report.labels.end(), by_count);
    text += fmt::format(", from {} samples ({}) to {} ({})", least->second,
                        label_name(least->first, classes), most->second,
                        label_name(most->first, classes));
  }
  text += '\n';
  for (std::size_t i = 0; i < std::min(kShown, report.first_bad.size()); ++i)
    text += fmt::format("bad: {}: {}\n", report.first_bad[i].name, report.first_bad[i].why);
  if (report.bad > kShown) text += fmt::format("bad: … and {} more\n", report.bad - kShown);
  if (report.repeated != 0) text += fmt::format("{} pictures came before\n", report.repeated);
  for (std::size_t i = 0; i < std::min(kShown, report.first_repeated.size()); ++i) {
    const SameContent& same = report.first_repeated[i];
    text += fmt::format("same: {} times{}: {}\n", same.count,
                        same.labels_differ ? ", with different labels" : "",
                        fmt::join(same.names, ", "));
  }
  return text + notices_text(notices);
}

std::string summary_json(const Summary& summary, const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"format", summary.format},
            {"samples", summary.samples},
            {"bytes", summary.frame_bytes},
            {"smallest", summary.smallest},
            {"largest", summary.largest},
            {"classes", summary.classes},
            {"fingerprint", summary.fingerprint.to_hex()},
            {"index", summary.index_source}};
  json["damage"] = damage_json(summary.damage);
  json["notices"] = notices_json(notices);
  return dump(json);
}

std::string summary_text(const Summary& summary, const std::vector<Notice>& notices) {
  std::string text = fmt::format(
      "format       {}\nsamples      {}\nbytes        {} ({} to {} a sample)\nclasses      {}\n"
      "fingerprint  {}\nindex        {}\n",
      summary.format, summary.samples, human_bytes(static_cast<double>(summary.frame_bytes)),
      human_bytes(static_cast<double>(summary.smallest)),
      human_bytes(static_cast<double>(summary.largest)), summary.classes.size(),
      summary.fingerprint.to_hex(), summary.index_source);
  for (const PlacedDamage& one : summary.damage) {
    text += fmt::format("damage       {} [{}, {}): {}\n", one.key, one.damage.begin, one.damage.end,
                        one.damage.why);
  }
  return text + notices_text(notices);
}

std::string record_json(const RecordLine& line) {
  Json json{{"record", line.record}, {"offset", line.offset}, {"length", line.length},
            {"sha256", line.sha256}, {"key", nullptr},        {"label", nullptr},
            {"object", line.object}};
  if (line.key) json["key"] = *line.key;
  if (line.labels.size() == 1) {
    json["label"] = number_json(line.labels[0]);
  } else if (!line.labels.empty()) {
    json["label"] = Json::array();
    for (const float label : line.labels) json["label"].push_back(number_json(label));
  }
  if (!line.fields.empty()) json["fields"] = Json::object();
  for (const FieldLine& field : line.fields) {
    json["fields"][field.name] = {{"bytes", field.bytes}};
    if (field.hex) {
      json["fields"][field.name]["hex"] = *field.hex;
    } else {
      json["fields"][field.name]["sha256"] = field.sha256;
    }
  }
  return dump(json);
}

std::string records_end_json(const RecordsEnd& end) {
  Json json{
      {"schema", 1}, {"end", end.damage.empty() ? "clean" : "damaged"}, {"records", end.records}};
  json["damage"] = damage_json(end.damage);
  return dump(json);
}

}  // namespace headrace::app
