// SPDX-License-Identifier: Apache-2.0
#include "records_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "headrace/base/printable.h"
#include "notice_line.h"
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

std::string printable_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

}  // namespace

std::string damage_text(const PlacedDamage& damage) {
  return fmt::format("{} [{}, {}): {}", printable(damage.key), damage.damage.begin,
                     damage.damage.end, printable(damage.damage.why));
}

std::string record_text(const RecordLine& line) {
  return fmt::format("{} {} @ {}: {} bytes, labels [{}], {}", printable(line.object), line.record,
                     line.offset, line.length, fmt::join(line.labels, ", "), line.sha256);
}

std::string notices_text(const std::vector<Notice>& notices) {
  std::string text;
  for (const Notice& notice : notices) text += fmt::format("note: {}\n", notice_line(notice));
  return text;
}

std::string convert_json(const ConvertReport& report, const std::string& format, double seconds,
                         const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"format", format},
            {"end", report.complete ? "complete" : "part"},
            {"samples", report.samples},
            {"skipped", report.skipped},
            {"payload_bytes", report.payload_bytes},
            {"record_bytes", report.record_bytes},
            {"shards_found", report.shards_found},
            {"seconds", seconds},
            {"objects", report.keys}};
  json["sets"] = Json::array();
  for (const WrittenSet& set : report.sets)
    json["sets"].push_back({{"key", set.key}, {"samples", set.samples}, {"shards", set.shards}});
  json["skipped_samples"] = Json::array();
  for (const SkippedSample& skipped : report.first_skipped)
    json["skipped_samples"].push_back({{"name", skipped.name}, {"why", skipped.why}});
  json["notices"] = notices_json(notices);
  return dump(json);
}

std::string convert_text(const ConvertReport& report, double seconds,
                         const std::vector<Notice>& notices) {
  constexpr std::size_t kShown = 20;
  std::string text =
      fmt::format("wrote {} samples, {} of pictures, in {:.1f} s ({:.0f}/s)\n", report.samples,
                  human_bytes(static_cast<double>(report.payload_bytes)), seconds,
                  static_cast<double>(report.samples) / std::max(seconds, 1e-9));
  if (report.shards_found != 0)
    text += fmt::format("{} shards were finished before\n", report.shards_found);
  for (const WrittenSet& set : report.sets)
    text +=
        fmt::format("  {}: {} samples, {} shards\n", printable(set.key), set.samples, set.shards);
  for (std::size_t i = 0; i < std::min(kShown, report.keys.size()); ++i)
    text += fmt::format("  {}\n", printable(report.keys[i]));
  if (report.keys.size() > kShown)
    text += fmt::format("  … {} objects in all\n", report.keys.size());
  if (!report.complete) text += "the set is open: write the other parts, then --finish\n";
  if (report.skipped != 0) text += fmt::format("{} samples were left out:\n", report.skipped);
  for (const SkippedSample& skipped : report.first_skipped)
    text += fmt::format("  {}: {}\n", printable(skipped.name), printable(skipped.why));
  return text + notices_text(notices);
}

namespace {

std::string_view odd_kind(OddPicture::Kind kind) {
  switch (kind) {
    case OddPicture::Kind::smallest:
      return "smallest";
    case OddPicture::Kind::largest:
      return "largest";
    case OddPicture::Kind::stretched:
      break;
  }
  return "stretched";
}

/// Lines for people: labels, their balance, sizes.
std::string balance_text(const VerifyReport& report, const std::vector<std::string>& classes) {
  std::string text;
  if (!report.labels.empty()) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] =
        std::minmax_element(report.labels.begin(), report.labels.end(), by_count);
    text += fmt::format("  labels {} to {}, {} of them; {} samples of {} to {} of {}\n",
                        report.labels.begin()->first, report.labels.rbegin()->first,
                        report.labels.size(), least->second,
                        printable(label_name(least->first, classes)), most->second,
                        printable(label_name(most->first, classes)));
  }
  if (report.unlabelled != 0)
    text += fmt::format("  {} samples have no label\n", report.unlabelled);
  if (!report.empty_classes.empty())
    text += fmt::format("  classes without a sample: {}\n", printable_list(report.empty_classes));
  if (report.good == 0) return text;
  text += fmt::format("  sizes {} to {}:\n", human_bytes(static_cast<double>(report.smallest)),
                      human_bytes(static_cast<double>(report.largest)));
  constexpr std::uint64_t kBar = 50;
  const std::uint64_t most = *std::ranges::max_element(report.sizes);
  for (std::size_t i = 0; i < report.sizes.size(); ++i) {
    const std::uint64_t count = report.sizes.at(i);
    if (count == 0) continue;
    text += fmt::format("    from {:>9}  {:<50} {}\n",
                        human_bytes(static_cast<double>(std::uint64_t{1} << i)),
                        std::string((count * kBar + most - 1) / most, '#'), count);
  }
  return text;
}

}  // namespace

std::string verify_json(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"end", report.clean() ? "clean" : "damaged"},
            {"decoded", report.decoded},
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
  json["missing"] = report.missing;
  json["unlabelled"] = report.unlabelled;
  json["empty_classes"] = report.empty_classes;
  json["sizes"] = Json::array();  // how many have that many bytes or more, up to the next
  for (std::size_t i = 0; i < report.sizes.size(); ++i) {
    if (report.sizes.at(i) != 0)
      json["sizes"].push_back({{"from", std::uint64_t{1} << i}, {"samples", report.sizes.at(i)}});
  }
  json["odd"] = Json::array();
  for (const OddPicture& one : report.odd) {
    json["odd"].push_back({{"why", odd_kind(one.kind)},
                           {"name", one.name},
                           {"sample", one.sample},
                           {"bytes", one.bytes},
                           {"width", one.size.width},
                           {"height", one.size.height}});
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
  if (!report.decoded) text += "  nothing was decoded: --decode looks inside the pictures\n";
  text += balance_text(report, classes);
  if (!report.missing.empty()) text += fmt::format("missing: {}\n", printable(report.missing));
  for (std::size_t i = 0; i < std::min(kShown, report.first_bad.size()); ++i)
    text += fmt::format("bad: {}: {}\n", printable(report.first_bad[i].name),
                        printable(report.first_bad[i].why));
  if (report.bad > kShown) text += fmt::format("bad: … and {} more\n", report.bad - kShown);
  if (report.repeated != 0) text += fmt::format("{} pictures came before\n", report.repeated);
  for (std::size_t i = 0; i < std::min(kShown, report.first_repeated.size()); ++i) {
    const SameContent& same = report.first_repeated[i];
    text += fmt::format("same: {} times{}: {}\n", same.count,
                        same.labels_differ ? ", with different labels" : "",
                        printable_list(same.names));
  }
  return text + notices_text(notices);
}

std::string summary_json(const Summary& summary, std::string_view stands_on,
                         const std::vector<Notice>& notices) {
  Json json{{"schema", 1},
            {"format", summary.format},
            {"samples", summary.samples},
            {"bytes", summary.frame_bytes},
            {"smallest", summary.smallest},
            {"largest", summary.largest},
            {"classes", summary.classes},
            {"fingerprint", summary.fingerprint.to_hex()},
            {"index", summary.index_source},
            {"stands_on", stands_on}};
  json["damage"] = damage_json(summary.damage);
  json["notices"] = notices_json(notices);
  return dump(json);
}

std::string summary_text(const Summary& summary, std::string_view stands_on,
                         const std::vector<Notice>& notices) {
  std::string text = fmt::format(
      "format       {}\nsamples      {}\nbytes        {} ({} to {} a sample)\nclasses      {}\n"
      "fingerprint  {}\nindex        {}\n",
      summary.format, summary.samples, human_bytes(static_cast<double>(summary.frame_bytes)),
      human_bytes(static_cast<double>(summary.smallest)),
      human_bytes(static_cast<double>(summary.largest)), summary.classes.size(),
      summary.fingerprint.to_hex(), summary.index_source);
  if (!stands_on.empty()) text += fmt::format("stands on    {}\n", printable(stands_on));
  for (const PlacedDamage& one : summary.damage) {
    text += fmt::format("damage       {}\n", damage_text(one));
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

std::string replayed_json(const Replayed& replayed) {
  const QuarantineLine& line = replayed.line;
  return dump({{"uri", line.uri},
               {"object", line.object},
               {"name", line.name},
               {"sample", line.sample},
               {"offset", line.offset},
               {"bytes", line.bytes},
               {"sha256", replayed.sha256},
               {"then", line.reason},
               {"now", replayed.why.empty() ? "good" : replayed.why}});
}

std::string replayed_text(const Replayed& replayed) {
  const QuarantineLine& line = replayed.line;
  return fmt::format(
      "{} {} @ {}, {} bytes, {}\n  then: {}\n  now:  {}", printable(line.uri), printable(line.name),
      line.offset, line.bytes, replayed.sha256.empty() ? "not readable" : replayed.sha256,
      printable(line.reason), replayed.why.empty() ? "good" : printable(replayed.why));
}

}  // namespace headrace::app
