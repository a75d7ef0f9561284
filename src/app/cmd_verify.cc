// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <memory>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/base/writable.h"
#include "headrace/decode/decoder.h"
#include "headrace/loader/processors.h"
#include "headrace/records/verify/report_page.h"
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
  std::string report;
  bool decode = false;
  bool json = false;
};

/// One decoder a thread: threads come and go with the command.
Result<DecodedPicture> decode_whole(ByteSpan picture) {
  thread_local Decoder decoder;
  HEADRACE_TRY(const auto pixels, decoder.decode(picture));
  const auto warnings = decoder.warnings();
  return DecodedPicture{.size = {.width = pixels.width, .height = pixels.height},
                        .warnings = {warnings.begin(), warnings.end()}};
}

Result<void> write_page(const Arguments& arguments, const Source& source,
                        const VerifyReport& report, const std::vector<Notice>& notices,
                        const std::stop_token& stop) {
  const std::string page =
      report_page(report, {.uri = arguments.uri,
                           .format = source.set->format(),
                           .classes = source.set->classes(),
                           .notices = notices,
                           .pictures = read_shown(*source.store, *source.set, report, stop)});
  errno = 0;
  std::ofstream file(arguments.report, std::ios::binary);
  file << page;
  file.close();
  if (file.fail()) return errno_error(errno == 0 ? EIO : errno, "write").at(arguments.report);
  return {};
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const Context context;
  if (!arguments.report.empty()) HEADRACE_TRY(check_can_write(arguments.report));
  HEADRACE_TRY(const auto source, open_source(arguments.uri, context, arguments.open, stop));
  WorkProgress progress;
  VerifyOptions options = arguments.verify;
  options.progress = &progress;
  options.stop = stop;
  if (arguments.decode) options.decode = decode_whole;
  if (options.jobs == 0) options.jobs = processors();
  auto line = std::make_unique<WorkLine>("verifying", progress, source.set->size());
  const auto report = verify(*source.store, *source.set, options, context);
  line.reset();
  if (!report) return report.error();
  const auto& classes = source.set->classes();
  const auto notices = context.notices->all();
  if (arguments.json) {
    fmt::print("{}\n", verify_json(*report, classes, notices));
  } else {
    fmt::print("{}", verify_text(*report, classes, notices));
  }
  if (!arguments.report.empty()) {
    HEADRACE_TRY(write_page(arguments, source, *report, notices, stop));
    if (!arguments.json) fmt::print("Report: {}\n", arguments.report);
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
  command->add_flag("--decode", arguments->decode, "Decode every picture");
  arguments->verify.jobs = 0;
  command
      ->add_option("--jobs", arguments->verify.jobs, "Threads that work (default: all processors)")
      ->check(at_least_one());
  command->add_option("--report", arguments->report,
                      "Write an HTML page too, with the worst pictures: FILE.html");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace verify /data/train\n"
      "  headrace verify s3://bucket/packed --decode --json\n"
      "  headrace verify /data/train --decode --report train.html\n"
      "Exit code 0: clean; 1: damaged, shards are missing, or it could not be told. Without\n"
      "--decode a picture is known by its first bytes and its structure up to its end: a flipped\n"
      "bit inside it is then not seen. What looks damaged is read once more, past every cache.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
