// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "decode_peers.h"
#include "headrace/base/program.h"
#include "headrace/job/measure_decode.h"

namespace headrace::app {
namespace {

const std::vector<std::string> kPython{"python3"};

struct Arguments {
  DecodeBenchOptions options;
  std::vector<std::string> pythons;
  bool without_peers = false;
  std::string work = "train";
  bool json = false;
};

struct Report {
  DecodeBenchReport decode;
  std::vector<PeerRate> peers;
};

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const std::vector<DecodeRate>& rates) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& rate : rates) {
    rows.push_back({{"who", rate.who},
                    {"threads", rate.threads},
                    {"images_per_second", rate.images_per_second},
                    {"images_per_cpu_second", rate.images_per_cpu_second},
                    {"bytes_touched_per_image", rate.bytes_touched_per_image},
                    {"instructions_per_image", or_null(rate.instructions_per_image)}});
  }
  return rows;
}

nlohmann::ordered_json to_json(const PeerRate& rate) {
  return {{"who", rate.who},
          {"version", rate.version},
          {"threads", rate.threads},
          {"images_per_second", rate.images_per_second},
          {"bytes_touched_per_image", nullptr},
          {"first_batch_seconds", rate.first_batch_seconds},
          {"peak_mib", rate.peak_mib}};
}

void print_json(const Report& all, const std::string& work) {
  const DecodeBenchReport& report = all.decode;
  auto rows = to_json(report.all);
  for (const auto& rate : all.peers) rows.push_back(to_json(rate));
  nlohmann::ordered_json json{{"schema", 1},
                              {"work", work},
                              {"rows", std::move(rows)},
                              {"by_sampling", nlohmann::ordered_json::object()},
                              {"pictures", report.pictures},
                              {"left_out", report.left_out},
                              {"mean_bytes", report.mean_bytes},
                              {"vector_unit", report.vector_unit}};
  for (const auto& [sampling, rates] : report.by_sampling) {
    json["by_sampling"][sampling] = to_json(rates);
  }
  fmt::print("{}\n", json.dump());
}

void print_rates(std::string_view title, const std::vector<DecodeRate>& rates) {
  const bool counted = rates.front().instructions_per_image.has_value();
  fmt::print("{}\n  {:<22}{:>12}{:>16}{:>16}{}{:>10}\n", title, "who", "images/s", "per cpu second",
             "bytes touched", counted ? "    instructions" : "", "ratio");
  for (const auto& rate : rates) {
    // The last one is libjpeg-turbo.
    const auto instructions = counted && rate.instructions_per_image
                                  ? fmt::format("{:>16.0f}", *rate.instructions_per_image)
                                  : std::string();
    fmt::print("  {:<22}{:>12.0f}{:>16.0f}{:>16.0f}{}{:>10.2f}\n", rate.who, rate.images_per_second,
               rate.images_per_cpu_second, rate.bytes_touched_per_image, instructions,
               rate.images_per_cpu_second / rates.back().images_per_cpu_second);
  }
}

void print_peers(const std::vector<PeerRate>& rates) {
  if (rates.empty()) return;
  fmt::print("loaders of others, from files to batches\n  {:<26}{:>12}{:>16}{:>12}\n", "who",
             "images/s", "first batch s", "peak MiB");
  for (const auto& rate : rates) {
    fmt::print("  {:<26}{:>12.0f}{:>16.2f}{:>12.0f}\n", rate.who, rate.images_per_second,
               rate.first_batch_seconds, rate.peak_mib);
  }
}

void print_text(const Report& all) {
  const DecodeBenchReport& report = all.decode;
  fmt::print("{} pictures of {:.0f} bytes on average{}, {}\n", report.pictures, report.mean_bytes,
             report.left_out == 0 ? "" : fmt::format(" ({} files left out)", report.left_out),
             report.vector_unit);
  print_rates("all", report.all);
  for (const auto& [sampling, rates] : report.by_sampling) print_rates(sampling, rates);
  print_peers(all.peers);
}

/// Peers are measured when ours are, for about as long all together: ten can be installed.
Result<Report> measure(const Arguments& arguments, const std::stop_token& stop) {
  Report report;
  HEADRACE_TRY(report.decode, run_decode_bench(arguments.options, stop));
  if (arguments.without_peers) return report;
  const auto& rates = arguments.options.rates;
  const PeerBench bench{.folder = arguments.options.folder,
                        .pythons = arguments.pythons,
                        .threads = rates.threads,
                        .seconds = std::max(rates.seconds / 10, 0.5)};
  auto peers = measure_peers(bench, stop);
  if (!peers && peers.error().code() == Code::not_found && arguments.pythons == kPython)
    return report;  // no Python, no peers
  HEADRACE_TRY(report.peers, std::move(peers));
  return report;
}

}  // namespace

void add_bench_decode(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "bench-decode", "Decode rates on your pictures: ours and libjpeg-turbo's, in one run");
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  command->add_option("--data", options.folder, "Folder with pictures, at any depth")->required();
  command->add_option("--threads", options.rates.threads, "Threads that decode")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seconds", options.rates.seconds, "How long to measure, in total")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  command->add_option("--work", arguments->work, "train, validation or whole, see below")
      ->check(CLI::IsMember({"train", "validation", "whole"}))
      ->capture_default_str();
  command->add_option("--limit", options.limit, "Take at most this many pictures")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  arguments->pythons = kPython;
  command
      ->add_option(
          "--peers-python", arguments->pythons,
          "A Python whose loaders (PyTorch, DALI, TensorFlow, …) are measured, too; may be "
          "given several times")
      ->check([](const std::string& name) {
        return find_program(name) ? std::string() : fmt::format("{} is no program", name);
      })
      ->capture_default_str();
  command->add_flag("--without-peers", arguments->without_peers, "Only ours and libjpeg-turbo");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Pictures are in memory. What becomes of them, by --work:\n"
      "  train       RandomResizedCrop 224 with flip, float32, planes first\n"
      "  validation  shorter side 256, centre crop 224, float32, planes first\n"
      "  whole       the whole picture as RGB bytes\n"
      "Examples:\n"
      "  headrace bench-decode --data photos\n"
      "  headrace bench-decode --data photos --work validation --without-peers\n"
      "  headrace bench-decode --data photos --threads 2 --seconds 60 --json");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments](const std::stop_token& stop) -> Result<int> {
      HEADRACE_TRY(arguments->options.rates.work, parse_decode_work(arguments->work));
      HEADRACE_TRY(const auto report, measure(*arguments, stop));
      if (arguments->json) {
        print_json(report, arguments->work);
      } else {
        print_text(report);
      }
      return 0;
    };
  });
}

}  // namespace headrace::app
