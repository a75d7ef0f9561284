// SPDX-License-Identifier: Apache-2.0
#include "cmd_keep_warm.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "headrace/job/cli_scan_line.h"
#include "headrace/job/cli_selection.h"
#include "headrace/job/warm.h"
#include "notice_line.h"
#include "progress_line.h"
#include "source_options.h"

namespace headrace::app {
namespace {

struct Arguments {
  JobOptions job;
  std::vector<std::string> uris;
  bool json = false;
};

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  ProgressLine line;
  std::function<void(const Loader::Progress&)> show;
  if (line.enabled()) {
    show = [&line](const Loader::Progress& now) {
      line.show(fmt::format("step {} of {}{}", now.step, now.steps,
                            now.waits_for.empty() ? "" : "  waits for " + now.waits_for));
    };
  }
  JobOptions job = arguments.job;
  job.uri = arguments.uris.front();
  job.with.assign(arguments.uris.begin() + 1, arguments.uris.end());
  ScanLine scan;
  job.open.scanning = &scan.progress();
  HEADRACE_TRY(const WarmReport report, warm(job, show, stop));
  line.clear();
  const bool whole = report.not_kept_bytes == 0;
  if (arguments.json) {
    nlohmann::ordered_json json{{"schema", 1},
                                {"samples", report.samples},
                                {"fetched_bytes", report.fetched_bytes},
                                {"present_bytes", report.present_bytes},
                                {"not_kept_bytes", report.not_kept_bytes},
                                {"limit_bytes", report.limit_bytes},
                                {"seconds", report.seconds},
                                {"notices", nlohmann::ordered_json::array()}};
    for (const Notice& notice : report.notices)
      json["notices"].push_back({{"kind", notice.kind}, {"text", notice.text}});
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return whole ? 0 : 1;
  }
  const auto bytes = [](std::uint64_t n) { return human_bytes(static_cast<double>(n)); };
  fmt::print("{} samples: {} fetched, {} kept before, in {:.1f} s\n", report.samples,
             bytes(report.fetched_bytes), bytes(report.present_bytes), report.seconds);
  if (!whole) {
    fmt::print("{} found no place in the cache, whose limit is {}\n", bytes(report.not_kept_bytes),
               bytes(report.limit_bytes));
  }
  for (const Notice& notice : report.notices) fmt::print("note: {}\n", notice_line(notice));
  return whole ? 0 : 1;
}

}  // namespace

void add_keep_warm(CLI::App& keep, Invocation& invocation) {
  auto* const command =
      keep.add_subcommand("warm", "Fill the cache with a set before it is needed");
  auto arguments = std::make_shared<Arguments>();
  JobOptions& job = arguments->job;
  command
      ->add_option("uri", arguments->uris,
                   "s3://bucket/prefix, as the job will name it; several, if it has several")
      ->required();
  command->add_option("--keep-dir", job.keep_dir,
                      "Cache directory; else $HEADRACE_KEEP_DIR, else ~/.cache/headrace");
  command->add_option("--keep-size,--keep-bytes", job.keep_bytes, "The cache's limit, such as 50G")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--requests", job.loader.max_requests, "Reads in flight")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  add_source_options(*command, job.open);
  add_selection_options(*command, job.loader.selection);
  command->footer(
      "Examples:\n"
      "  headrace keep warm s3://bucket/train\n"
      "  headrace keep warm s3://bucket/train --keep-dir /nvme/headrace --keep-size 200G\n"
      "  headrace keep warm s3://bucket/photos s3://bucket/drawings --class-weights other=0\n"
      "Of classes and samples with weights, and of sets with shares, what a job with the same\n"
      "options can draw in some epoch is fetched. What is kept already is read and verified,\n"
      "not fetched. Exit code 1 if something found no place.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
