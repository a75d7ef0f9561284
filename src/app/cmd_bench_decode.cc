// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "headrace/job/measure_decode.h"

namespace headrace::app {
namespace {

struct Arguments {
  DecodeBenchOptions options;
  std::string work = "train";
  bool json = false;
};

nlohmann::ordered_json to_json(const std::vector<DecodeRate>& rates) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& rate : rates) {
    rows.push_back({{"who", rate.who},
                    {"threads", rate.threads},
                    {"images_per_second", rate.images_per_second},
                    {"images_per_cpu_second", rate.images_per_cpu_second},
                    {"bytes_touched_per_image", rate.bytes_touched_per_image}});
  }
  return rows;
}

void print_json(const DecodeBenchReport& report, const std::string& work) {
  nlohmann::ordered_json json{{"schema", 1},
                              {"work", work},
                              {"rows", to_json(report.all)},
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
  fmt::print("{}\n  {:<22}{:>12}{:>16}{:>16}{:>10}\n", title, "who", "images/s", "per cpu second",
             "bytes touched", "ratio");
  for (const auto& rate : rates) {
    // The last one is libjpeg-turbo.
    fmt::print("  {:<22}{:>12.0f}{:>16.0f}{:>16.0f}{:>10.2f}\n", rate.who, rate.images_per_second,
               rate.images_per_cpu_second, rate.bytes_touched_per_image,
               rate.images_per_cpu_second / rates.back().images_per_cpu_second);
  }
}

void print_text(const DecodeBenchReport& report) {
  fmt::print("{} pictures of {:.0f} bytes on average{}, {}\n", report.pictures, report.mean_bytes,
             report.left_out == 0 ? "" : fmt::format(" ({} files left out)", report.left_out),
             report.vector_unit);
  print_rates("all", report.all);
  for (const auto& [sampling, rates] : report.by_sampling) print_rates(sampling, rates);
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
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Pictures are in memory. What becomes of them, by --work:\n"
      "  train       RandomResizedCrop 224 with flip, float32, planes first\n"
      "  validation  shorter side 256, centre crop 224, float32, planes first\n"
      "  whole       the whole picture as RGB bytes\n"
      "Examples:\n"
      "  headrace bench-decode --data photos\n"
      "  headrace bench-decode --data photos --work validation\n"
      "  headrace bench-decode --data photos --threads 2 --seconds 60 --json");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments](const std::stop_token& stop) -> Result<int> {
      HEADRACE_TRY(arguments->options.rates.work, parse_decode_work(arguments->work));
      HEADRACE_TRY(const auto report, run_decode_bench(arguments->options, stop));
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
