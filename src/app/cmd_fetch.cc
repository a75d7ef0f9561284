// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/job/fetch/fetch.h"
#include "headrace/storage/open_store.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string uri;
  std::string folder;
  unsigned requests = FetchOptions().workers;
  bool json = false;
};

/// Shows the rate and what is left twice a second.
class FetchProgress {
 public:
  FetchProgress() {
    if (!line_.enabled()) return;
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (real_clock().sleep_for(std::chrono::milliseconds(500), stop)) show();
    });
  }

  void set(std::uint64_t done, std::uint64_t total) {
    done_ = done;
    total_ = total;
  }
  void clear() {
    thread_ = {};
    line_.clear();
  }

 private:
  void show() {
    const auto done = static_cast<double>(done_), total = static_cast<double>(total_);
    const double seconds = std::chrono::duration<double>(real_clock().now() - begin_).count();
    const double rate = done / seconds;
    line_.show(total == 0 ? std::string("listing")
                          : fmt::format("fetching {} of {}  {}/s  {} left", human_bytes(done),
                                        human_bytes(total), human_bytes(rate),
                                        rate > 0 ? human_time((total - done) / rate) : "?"));
  }

  ProgressLine line_;
  const Nanos begin_ = real_clock().now();
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> total_ = 0;
  std::jthread thread_;
};

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const Context context;
  HEADRACE_TRY(const Uri uri, parse_uri(arguments.uri));
  HEADRACE_TRY(const auto source, open_store(uri, context, {.stop = stop}));
  FetchProgress progress;
  const Nanos begin = context.clock->now();
  HEADRACE_TRY(const FetchReport report,
               fetch(*source, arguments.folder,
                     {.workers = arguments.requests,
                      .progress = [&progress](std::uint64_t done,
                                              std::uint64_t total) { progress.set(done, total); }},
                     stop));
  progress.clear();
  const double seconds = std::chrono::duration<double>(context.clock->now() - begin).count();
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", 1},
                                      {"objects", report.objects},
                                      {"bytes", report.bytes},
                                      {"fetched_objects", report.fetched_objects},
                                      {"fetched_bytes", report.fetched_bytes},
                                      {"seconds", seconds},
                                      {"requests", context.metrics->get(Metric::requests)},
                                      {"retries", context.metrics->get(Metric::retries)}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("{} objects, {}; {} objects, {} fetched now in {:.1f} s\n", report.objects,
               human_bytes(static_cast<double>(report.bytes)), report.fetched_objects,
               human_bytes(static_cast<double>(report.fetched_bytes)), seconds);
  }
  return 0;
}

}  // namespace

void add_fetch(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("fetch", "Copy a data set into a folder, as File mode does");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("uri", arguments->uri, "What to copy: s3://bucket/prefix or a path")
      ->required();
  command->add_option("dest", arguments->folder, "The folder; made if it is missing")->required();
  command->add_option("--requests", arguments->requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace fetch s3://bucket/train /data/train\n"
      "  headrace fetch s3://bucket/train/train.rec /data\n"
      "Files appear when they are whole. A fetch that was broken off goes on where it was: run it\n"
      "again. Space is looked at before anything is read.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
