// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/base/parse_number.h"
#include "headrace/job/cli_scan_line.h"
#include "headrace/job/read_job.h"
#include "job_options.h"
#include "progress_line.h"
#include "read_output.h"
#include "wait_line.h"

namespace headrace::app {
namespace {

struct Arguments {
  JobArguments job;
  std::string validation;
  std::string validation_local;
  double accelerator_rate = 0;
  std::string state;
  std::vector<std::string> resume;
  bool json = false;
};

/// "none" or "emulated:RATE" to samples a second.
Result<double> parse_accelerator(std::string_view text) {
  constexpr std::string_view prefix = "emulated:";
  if (text == "none") return 0.0;
  constexpr double kSlowest = 1e-3;  // a batch then takes hours; of less the clock would overflow
  constexpr double kFastest = 1e9;
  const std::string_view given = text;
  if (text.starts_with(prefix)) {
    const auto rate = parse_number<double>(text.substr(prefix.size()));
    if (rate && *rate >= kSlowest && *rate <= kFastest) return *rate;
  }
  return Error(Code::invalid, fmt::format("unknown accelerator '{}'", given),
               "none, or emulated:RATE with RATE in samples a second, 0.001 to 1e9");
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  ReadOptions options;
  HEADRACE_TRY(options.job, arguments.job.to_options());
  options.accelerator_rate = arguments.accelerator_rate;
  options.validation = arguments.validation;
  options.validation_local = arguments.validation_local;
  options.state_file = arguments.state;
  if (!arguments.resume.empty()) {
    HEADRACE_TRY(options.resume, load_read_state(arguments.resume));
  }
  ScanLine scan;
  options.job.open.scanning = &scan.progress();
  options.job.on_wait = say_waiting;
  ProgressLine line;
  ReadHooks hooks;
  if (line.enabled()) {
    hooks.progress = [&line, &scan](const ReadProgress& progress) {
      if (!scan.active()) line.show(read_progress(progress));
    };
  }
  HEADRACE_TRY(const ReadReport report, run_read(options, hooks, stop));
  line.clear();
  fmt::print("{}\n", arguments.json ? read_json(report) : read_table(report));
  return 0;
}

}  // namespace

void add_read(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "read", "Deliver every batch of a job to nobody: throughput, digests, where the time goes");
  auto arguments = std::make_shared<Arguments>();
  add_job_options(*command, arguments->job);
  command->add_option("--val", arguments->validation, "Validation set, read after each epoch");
  command->add_option("--val-local", arguments->validation_local, "As --local, for --val");
  command
      ->add_option_function<std::string>(
          "--accelerator",
          [arguments](const std::string& text) {
            const auto rate = parse_accelerator(text);
            if (!rate) throw CLI::ValidationError("--accelerator", rate.error().to_string());
            arguments->accelerator_rate = *rate;
          },
          "none, or emulated:RATE: takes a batch, is busy for its size / RATE seconds")
      ->default_str("none");
  command->add_option("--state", arguments->state,
                      "File that holds the state, written each second and at the end");
  command
      ->add_option("--resume", arguments->resume,
                   "State file to go on from; given once for each rank, if their number changes")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace read /data/train --epochs 2\n"
      "  headrace read /data/photos /data/drawings --shares 0.8,0.2 --epoch-samples 1000000\n"
      "  headrace read /data/train --class-weights rare=10,common=0.5\n"
      "  headrace read s3://bucket/train --mode stream --accelerator emulated:800 --json\n"
      "  headrace read s3://bucket/train --epochs 3 --partial-reads --keep-medium ebs-gp3\n"
      "  headrace read s3://bucket/train --state job.state\n"
      "  headrace read s3://bucket/train --state job.state --resume job.state\n"
      "launch_seconds counts from the process's start to the first batch. accelerator_busy is the\n"
      "time the accelerator computed over all time, the first step of an epoch excluded.");
  command->callback([&invocation, arguments] {
    check_job_options(arguments->job);
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

Result<void> check_read(std::vector<std::string> words) {
  CLI::App root;
  Invocation never;
  add_read(root, never);
  refuse_wrapped_numbers(root);
  words.insert(words.begin(), "read");
  std::reverse(words.begin(), words.end());  // as the parser takes them
  try {
    root.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return Error(Code::invalid, error.what());
  }
  return {};
}

}  // namespace headrace::app
