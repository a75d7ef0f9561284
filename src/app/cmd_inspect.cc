// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "headrace/records/inspect/inspect.h"
#include "inspect_picture.h"
#include "records_output.h"
#include "source_options.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string uri;
  OpenOptions open;
  bool records = false;
  bool decode = false;
  bool json = false;
};

Result<int> print_records(const Source& source, bool json, const std::stop_token& stop) {
  HEADRACE_TRY(const auto end,
               list_records(*source.store, *source.set, {}, stop, [json](const RecordLine& line) {
                 if (json) {
                   fmt::print("{}\n", record_json(line));
                 } else {
                   fmt::print("{} {} @ {}: {} bytes, labels [{}], {}\n", line.object, line.record,
                              line.offset, line.length, fmt::join(line.labels, ", "), line.sha256);
                 }
               }));
  if (json) {
    fmt::print("{}\n", records_end_json(end));
  } else {
    for (const PlacedDamage& one : end.damage) {
      fmt::print("damage: {} [{}, {}): {}\n", one.key, one.damage.begin, one.damage.end,
                 one.damage.why);
    }
    fmt::print("{}: {} records\n", end.damage.empty() ? "clean" : "damaged", end.records);
  }
  return end.damage.empty() ? 0 : 1;
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  OpenOptions open = arguments.open;
  open.allow_empty = arguments.records;  // a file without one is a listing of none
  if (arguments.decode) return inspect_picture(arguments.uri, arguments.json);
  const Context context;
  HEADRACE_TRY(const auto source, open_source(arguments.uri, context, open, stop));
  if (arguments.records) return print_records(source, arguments.json, stop);
  const Summary summary = summarise(*source.set);
  const auto notices = context.notices->all();
  if (arguments.json) {
    fmt::print("{}\n", summary_json(summary, notices));
  } else {
    fmt::print("{}", summary_text(summary, notices));
  }
  return summary.damage.empty() ? 0 : 1;
}

}  // namespace

void add_inspect(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "inspect", "Say what a set is: format, samples, classes, index; or list its records");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("uri", arguments->uri, "A path or s3://bucket/prefix")->required();
  add_source_options(*command, arguments->open);
  command->add_flag("--records", arguments->records,
                    "Every record: place, length, SHA-256, label; and what is damaged");
  command->add_flag("--decode", arguments->decode,
                    "The path is one picture: does it decode, to what pixels, and if not, why");
  command->add_flag("--json", arguments->json,
                    "One JSON object on stdout; with --records one a line");
  command->footer(
      "Examples:\n"
      "  headrace inspect /data/train.rec\n"
      "  headrace inspect s3://bucket/train --records --json\n"
      "  headrace inspect photo.jpg --decode --json\n"
      "Exit code 0: clean; 1: damaged, or it could not be told.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
