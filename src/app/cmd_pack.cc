// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/base/clock.h"
#include "headrace/base/uri.h"
#include "headrace/records/cli_reading.h"
#include "headrace/records/pack/pack.h"
#include "headrace/storage/open_store.h"
#include "records_output.h"
#include "source_options.h"
#include "work_line.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string source;
  std::string format = "recordio";
  std::string out;
  std::string on_bad = "error";
  OpenOptions open;
  PackOptions pack;
  bool json = false;
};

/// A folder of its own ("/data/packed" holds packed.rec), or one file by its name ("x.rec").
Result<std::pair<Uri, std::string>> destination(const std::string& text) {
  constexpr std::string_view kSuffix = ".rec";
  HEADRACE_TRY(Uri uri, parse_uri(text));
  if (uri.path.ends_with(kSuffix)) {
    HEADRACE_TRY(auto split, split_object(uri));
    split.second.resize(split.second.size() - kSuffix.size());
    if (split.second.empty()) return Error(Code::invalid, "a name is missing before .rec").at(text);
    return split;
  }
  std::string_view path = uri.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string name(path.substr(path.rfind('/') + 1));
  if (name.empty() || name == "." || name == "..") name = "data";
  return std::pair(std::move(uri), std::move(name));
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const Context context;
  HEADRACE_TRY(const auto where, destination(arguments.out));
  HEADRACE_TRY(const auto source, open_source(arguments.source, context, arguments.open, stop));
  HEADRACE_TRY(const auto out, open_store(where.first, context,
                                          {.root = StoreOptions::Root::folder, .stop = stop}));
  WorkProgress progress;
  PackOptions options = arguments.pack;
  options.key = where.second;
  options.skip_bad = arguments.on_bad == "skip";
  options.progress = &progress;
  options.stop = stop;
  const Nanos begin = real_clock().now();
  auto line = std::make_unique<WorkLine>("packing", progress, source.set->size());
  auto report = pack_recordio(*source.store, *source.set, *out, options, context);
  line.reset();
  if (!report) return std::move(report).error();
  const double seconds = std::chrono::duration<double>(real_clock().now() - begin).count();
  const auto notices = context.notices->all();
  if (arguments.json) {
    fmt::print("{}\n", pack_json(*report, seconds, notices));
  } else {
    fmt::print("{}", pack_text(*report, seconds, notices));
  }
  return 0;
}

}  // namespace

void add_pack(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "pack", "Write a set as RecordIO: same samples, same order, same bytes of pictures");
  auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  command->add_option("source", a.source, "A path or s3://bucket/prefix")->required();
  command->add_option("--format", a.format, "What to write")
      ->check(CLI::IsMember({"recordio"}))
      ->capture_default_str();
  command
      ->add_option("--out", a.out,
                   "A folder for the set, or a file that ends in .rec; a path or s3://…")
      ->required();
  auto* const shards =
      command->add_option("--shards", a.pack.shards, "Number of files")->check(at_least_one());
  command
      ->add_option("--shard-size", a.pack.shard_bytes,
                   "Begin another file before this size is passed, such as 1G")
      ->transform(CLI::AsSizeValue(false))
      ->excludes(shards);
  command->add_flag("--force", a.pack.replace, "Replace a packed set of this name");
  command->add_option("--on-bad", a.on_bad, "A sample that cannot be read: error, or skip it")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  command->add_option("--source-format", a.open.format,
                      "folder, recordio, … (default: from content)");
  command->add_option("--list", a.open.list, "A .lst or .csv that names and labels samples");
  add_root_files(*command, a.open);
  add_reading_options(*command, a.open);
  command->add_option("--requests", a.pack.reading.requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  command
      ->add_option("--budget", a.pack.reading.budget_bytes,
                   "Memory for data on its way, such as 256M")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command->add_flag("--json", a.json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace pack /data/train --format recordio --out /data/packed\n"
      "  headrace pack s3://bucket/train --out s3://bucket/packed --shard-size 1G\n"
      "  headrace pack /data/all --list train.lst --out /data/train.rec\n"
      "Writes NAME.rec, NAME.idx, NAME.lst and NAME.classes.txt. Record i is sample i of the\n"
      "source, so that both give equal order digests; the same input gives the same bytes.");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
