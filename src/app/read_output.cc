// SPDX-License-Identifier: Apache-2.0
#include "read_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "headrace/base/printable.h"
#include "notice_line.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

using Json = nlohmann::ordered_json;

double rate(const EpochReport& report) {
  const auto samples = report.ledger.delivered + report.ledger.substituted;
  return report.seconds > 0 ? static_cast<double>(samples) / report.seconds : 0;
}

std::uint64_t count_of(const Metrics::Snapshot& metrics, Metric metric) {
  return metrics[static_cast<std::size_t>(metric)];
}

double seconds_of(const EpochReport& report, Metric metric) {
  return static_cast<double>(count_of(report.metrics, metric)) * 1e-9;
}

/// Of the bytes read, those that the node cache gave.
std::optional<double> cache_share(const EpochReport& report) {
  const auto cache = static_cast<double>(count_of(report.metrics, Metric::bytes_cache));
  const auto origin = static_cast<double>(count_of(report.metrics, Metric::bytes_origin));
  if (cache + origin == 0) return std::nullopt;
  return cache / (cache + origin);
}

/// What of an epoch the cache gave, and why not all.
std::string cache_line(const ReadReport& report, const EpochReport& epoch, std::uint64_t number) {
  const auto share = cache_share(epoch);
  if (report.mode != Mode::keep || !share) return "";
  std::string text =
      fmt::format("{:>12} {:.1f} % of the bytes from the node cache", "", 100 * *share);
  if (epoch.in_parts != 0) {
    text += fmt::format("; {} samples read in parts, digests by their blocks", epoch.in_parts);
  }
  const Shuffle::Scheme scheme = report.shuffle.scheme;
  if (report.nodes > 1 &&
      (scheme == Shuffle::Scheme::global || scheme == Shuffle::Scheme::blocks)) {
    text += fmt::format(
        "; --shuffle {} gives each of {} nodes another 1/{}\n{:>12} every epoch, so on average "
        "1 - (1 - 1/{})^{} = {:.1f} % were read here before;\n{:>12} --shuffle node leaves each "
        "node its share",
        to_string(report.shuffle), report.nodes, report.nodes, "", report.nodes, number,
        100 * share_read_before(report.nodes, number), "");
  }
  return text + "\n";
}

Json metrics_json(const Metrics::Snapshot& metrics) {
  Json json;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    json[std::string(to_string(static_cast<Metric>(i)))] = metrics[i];
  }
  return json;
}

Json epoch_json(const EpochResult& result) {
  const EpochReport& report = result.report;
  const Ledger& ledger = report.ledger;
  Json json{{"epoch", report.epoch},
            {"asked", ledger.asked},
            {"delivered", ledger.delivered},
            {"substituted", ledger.substituted},
            {"skipped", ledger.skipped},
            {"dropped", ledger.dropped},
            {"padded", ledger.padded},
            {"quarantined", ledger.quarantined},
            {"seconds", report.seconds},
            {"samples_per_second", rate(report)},
            {"accelerator_busy", nullptr},
            {"order_digest", report.order_digest.to_hex()},
            {"set_digest", report.set_digest.to_hex()},
            {"digest_basis", report.in_parts == 0 ? "payload" : "blocks"},
            {"samples_in_parts", report.in_parts}};
  if (result.accelerator_busy) json["accelerator_busy"] = *result.accelerator_busy;
  json["cache_share"] = nullptr;
  if (const auto share = cache_share(report)) json["cache_share"] = *share;
  json.update(metrics_json(report.metrics));
  return json;
}

Json epochs_json(const std::vector<EpochResult>& results) {
  Json json = Json::array();
  for (const EpochResult& result : results) json.push_back(epoch_json(result));
  return json;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

std::string row(std::string_view name, const EpochResult& result) {
  const EpochReport& report = result.report;
  const Ledger& ledger = report.ledger;
  const double decode = seconds_of(report, Metric::decode_nanos);
  const double fetch = seconds_of(report, Metric::wait_fetch_nanos);
  const double room = seconds_of(report, Metric::wait_batch_nanos);
  const double threads = decode + fetch + room;
  std::string text = fmt::format(
      "{:>12} {:>10} {:>8.2f} {:>10.1f} {:>6} {:>9} {:>10} {:>10} {:>10}", name,
      ledger.delivered + ledger.substituted, report.seconds, rate(report),
      result.accelerator_busy ? fmt::format("{:.1f} %", 100 * *result.accelerator_busy) : "-",
      percent(seconds_of(report, Metric::wait_next_nanos), report.seconds),
      percent(decode, threads), percent(fetch, threads), percent(room, threads));
  if (ledger.skipped + ledger.substituted + ledger.dropped + ledger.padded != 0) {
    text += fmt::format("\n{:>12} skipped {}, substituted {}, dropped {}, padding {}", "",
                        ledger.skipped, ledger.substituted, ledger.dropped, ledger.padded);
  }
  return text + "\n";
}

}  // namespace

std::string read_json(const ReadReport& report) {
  Json json{{"schema", 1},
            {"mode", to_string(report.mode)},
            {"format", report.format},
            {"stands_on", report.stands_on},
            {"samples", report.samples},
            {"sets", report.sets},
            {"classes", report.classes},
            {"nodes", report.nodes},
            {"launch_seconds", report.launch_seconds},
            {"open_seconds", report.open_seconds},
            {"total_seconds", report.total_seconds},
            {"epochs", epochs_json(report.epochs)},
            {"validation", epochs_json(report.validation)},
            {"totals", metrics_json(report.totals)}};
  if (report.resumed_from) {
    json["resumed_from"] = {{"epoch", report.resumed_from->epoch},
                            {"position", report.resumed_from->position}};
  }
  json["notices"] = Json::array();
  for (const Notice& notice : report.notices) {
    json["notices"].push_back(
        {{"kind", notice.kind}, {"text", notice.text}, {"count", notice.count}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string read_table(const ReadReport& report) {
  std::string text =
      fmt::format("{} samples ({}), mode {}: first batch after {:.2f} s\n\n", report.samples,
                  report.format, to_string(report.mode), report.launch_seconds);
  if (!report.stands_on.empty())
    text += fmt::format("stands on {}\n\n", printable(report.stands_on));
  text += fmt::format("{:>12} {:>10} {:>8} {:>10} {:>6} {:>9} {:>32}\n", "", "", "", "", "accel.",
                      "consumer", "decode threads: at work, waiting");
  text +=
      fmt::format("{:>12} {:>10} {:>8} {:>10} {:>6} {:>9} {:>10} {:>10} {:>10}\n", "epoch",
                  "samples", "seconds", "samples/s", "busy", "waited", "", "for bytes", "for room");
  for (const EpochResult& result : report.epochs) {
    text += row(fmt::format("{}", result.report.epoch), result);
    const std::uint64_t number = result.report.epoch - report.epochs.front().report.epoch;
    text += cache_line(report, result.report, number);
  }
  for (const EpochResult& result : report.validation) {
    text += row(fmt::format("validation {}", result.report.epoch), result);
  }
  if (!report.epochs.empty()) {
    const EpochReport& last = report.epochs.back().report;
    text += fmt::format("\nepoch {}: order digest {}, set digest {}\n", last.epoch,
                        last.order_digest.to_hex(), last.set_digest.to_hex());
  }
  for (const Notice& notice : report.notices) {
    text += fmt::format("note: {}\n", notice_line(notice));
  }
  return text;
}

std::string read_progress(const ReadProgress& progress) {
  if (progress.phase == "fetching") {
    return fmt::format("fetching {} of {}", human_bytes(static_cast<double>(progress.bytes_done)),
                       human_bytes(static_cast<double>(progress.bytes_total)));
  }
  if (progress.loader.steps == 0) return progress.phase;
  const Loader::Progress& at = progress.loader;
  std::string text =
      fmt::format("{} {} of {}  step {} of {}  {:.0f} samples/s", progress.phase, at.epoch,
                  progress.end_epoch, at.step, at.steps, progress.samples_per_second);
  if (at.step != 0 && progress.samples_per_second > 0) {
    const double per_step = static_cast<double>(at.samples) / static_cast<double>(at.step);
    const double left = static_cast<double>(at.steps - at.step) * per_step;
    text += fmt::format("  {} left", human_time(left / progress.samples_per_second));
  }
  return text + (at.waits_for == "consumer" ? std::string() : "  waits for " + at.waits_for);
}

}  // namespace headrace::app
