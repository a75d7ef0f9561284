// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/records/verify/verify.h"
#include "records_output.h"
#include "source_options.h"
#include "work_line.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string uri;
  OpenOptions open;
  VerifyOptions verify;
  bool json = false;
};

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const Context context;
  HEADRACE_TRY(const auto source, open_source(arguments.uri, context, arguments.open, stop));
  WorkProgress progress;
  VerifyOptions options = arguments.verify;
  options.progress = &progress;
  options.stop = stop;
  auto line = std::make_unique<WorkLine>("verifying", progress, source.set->size());
  const auto report = verify(*source.store, *source.set, options);
  line.reset();
  if (!report) return report.error();
  const auto& classes = source.set->classes();
  const auto notices = context.notices->all();
  if (arguments.json) {
    fmt::print("{}\n", verify_json(*report, classes, notices));
  } else {
    fmt::print("{}", verify_text(*report, classes, notices));
  }
  return report->clean() ? 0 : 1;
}

}  // namespace

void add_verify(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "verify", "Read a whole set: is every sample there, a picture, and there once?");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("uri", arguments->uri, "A path or s3://bucket/prefix")->required();
  add_source_options(*command, arguments->open);
  command->add_option("--requests", arguments->verify.reading.requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace verify /data/train\n"
      "  headrace verify s3://bucket/packed --json\n"
      "Exit code 0: clean; 1: damaged, or it could not be told. Nothing is decoded: a picture is\n"
      "known by its first bytes and its end.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
