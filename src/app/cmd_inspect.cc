// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "headrace/base/uri.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/storage/local/standing.h"
#include "inspect_media.h"
#include "inspect_picture.h"
#include "records_output.h"
#include "replay_quarantine.h"
#include "source_options.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string uri;
  std::string replay;
  OpenOptions open;
  bool records = false;
  bool decode = false;
  bool media = false;
  bool json = false;
};

Result<int> print_records(const Source& source, const Context& context, bool json,
                          const std::stop_token& stop) {
  HEADRACE_TRY(const auto end, list_records(
                                   *source.store, *source.set, {}, stop,
                                   [json](const RecordLine& line) {
                                     if (json) {
                                       fmt::print("{}\n", record_json(line));
                                     } else {
                                       fmt::print("{}\n", record_text(line));
                                     }
                                   },
                                   context.notices.get()));
  if (json) {
    fmt::print("{}\n", records_end_json(end));
  } else {
    for (const PlacedDamage& one : end.damage) {
      fmt::print("damage: {}\n", damage_text(one));
    }
    fmt::print("{}: {} records\n{}", end.damage.empty() ? "clean" : "damaged", end.records,
               notices_text(context.notices->all()));
  }
  return end.damage.empty() ? 0 : 1;
}

/// Of a path; "" for anything else.
std::string medium_under(const std::string& text) {
  const auto uri = parse_uri(text);
  if (!uri.ok() || uri->scheme != Scheme::local) return {};
  const auto found = local::standing_of(uri->path);
  return found.ok() ? found->to_string() : std::string();
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  OpenOptions open = arguments.open;
  if (!arguments.replay.empty())
    return replay_quarantine(arguments.replay, open, arguments.json, stop);
  open.allow_empty = arguments.records;  // a file without one is a listing of none
  if (arguments.media) return inspect_media(arguments.json);
  if (arguments.decode) return inspect_picture(arguments.uri, arguments.json);
  const Context context;
  HEADRACE_TRY(const auto source, open_source(arguments.uri, context, open, stop));
  if (arguments.records) return print_records(source, context, arguments.json, stop);
  const Summary summary = summarise(*source.set);
  const auto notices = context.notices->all();
  const std::string stands_on = medium_under(arguments.uri);
  if (arguments.json) {
    fmt::print("{}\n", summary_json(summary, stands_on, notices));
  } else {
    fmt::print("{}", summary_text(summary, stands_on, notices));
  }
  return summary.damage.empty() ? 0 : 1;
}

}  // namespace

void add_inspect(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "inspect", "Say what a set is: format, samples, classes, index; or list its records");
  auto arguments = std::make_shared<Arguments>();
  auto* const uri = command->add_option("uri", arguments->uri, "A path or s3://bucket/prefix");
  add_source_options(*command, arguments->open);
  auto* const records =
      command->add_flag("--records", arguments->records,
                        "Every record: place, length, SHA-256, label; and what is damaged");
  auto* const decode =
      command
          ->add_flag("--decode", arguments->decode,
                     "The path is one picture: does it decode, to what pixels, and if not, why")
          ->excludes(records);
  command
      ->add_option("--replay", arguments->replay,
                   "A quarantine file: read each of its samples again, past "
                   "every cache; are they still bad, and why?")
      ->excludes(uri)
      ->excludes(records)
      ->excludes(decode);
  auto* const media = command->add_flag(
      "--media", arguments->media,
      "The media that --medium knows: figures with date, source, verified or not");
  uri->excludes(media);
  command->add_flag("--json", arguments->json,
                    "One JSON object on stdout; with --records one a line");
  command->footer(
      "Examples:\n"
      "  headrace inspect /data/train.rec\n"
      "  headrace inspect s3://bucket/train --records --json\n"
      "  headrace inspect photo.jpg --decode --json\n"
      "  headrace inspect --replay bad.jsonl --json\n"
      "  headrace inspect --media\n"
      "Exit code 0: clean; 1: damaged, or it could not be told. With --replay 0: all are good by\n"
      "now; the set's options (--list, --root-files-skip) are those of the job that wrote the "
      "file.");
  command->callback([&invocation, arguments] {
    if (arguments->uri.empty() && arguments->replay.empty() && !arguments->media)
      throw CLI::RequiredError("uri, --replay or --media");
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
