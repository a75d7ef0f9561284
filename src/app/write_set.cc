// SPDX-License-Identifier: Apache-2.0
#include "write_set.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/base/clock.h"
#include "headrace/base/uri.h"
#include "headrace/loader/processors.h"
#include "headrace/records/cli_reading.h"
#include "headrace/records/formats.h"
#include "headrace/storage/open_store.h"
#include "records_output.h"
#include "source_options.h"
#include "work_line.h"

namespace headrace::app {
namespace {

/// A folder of its own ("/data/packed" holds packed.rec), or one file by its name ("x.rec").
Result<std::pair<Uri, std::string>> destination(const WriteArguments& arguments) {
  const std::string& text = arguments.out;
  HEADRACE_TRY(Uri uri, parse_uri(text));
  const Format* format = find_format(arguments.convert.format);
  const bool split = arguments.convert.validation > 0;
  for (const std::string& suffix :
       format == nullptr ? std::vector<std::string>() : format->kind.suffixes) {
    if (!uri.path.ends_with(suffix)) continue;
    if (split) {
      return Error(Code::invalid, "--split writes two sets, which need a folder",
                   "give --out a folder")
          .at(text);
    }
    HEADRACE_TRY(auto parts, split_object(uri));
    parts.second.resize(parts.second.size() - suffix.size());
    if (parts.second.empty())
      return Error(Code::invalid, fmt::format("a name is missing before {}", suffix)).at(text);
    return parts;
  }
  std::string_view path = uri.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string name(path.substr(path.rfind('/') + 1));
  if (name.empty() || name == "." || name == "..") name = "data";
  return std::pair(std::move(uri), std::move(name));
}

Result<void> read_part(const std::string& text, ConvertOptions& options) {
  if (text.empty()) return {};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, options.part);
  const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  if (slash) {
    const auto second = std::from_chars(first.ptr + 1, end, options.parts);
    if (second.ec == std::errc() && second.ptr == end && options.parts != 0) return {};
  }
  return Error(Code::invalid, fmt::format("\"{}\" is no part", text),
               "--part 2/4 is the second of four");
}

}  // namespace

void add_write_options(CLI::App& command, WriteArguments& a) {
  command.add_option("source", a.source, "A path or s3://bucket/prefix")->required();
  command
      .add_option("--out", a.out, "A folder for the set, or one file by its name; a path or s3://…")
      ->required();
  auto* const shards =
      command.add_option("--shards", a.convert.shards, "Number of files")->check(at_least_one());
  command
      .add_option("--shard-size", a.convert.shard_bytes,
                  "Begin another file before this size is passed, such as 1G")
      ->transform(CLI::AsSizeValue(false))
      ->excludes(shards);
  command.add_option("--jobs", a.convert.jobs, "Threads that work (default: all processors)")
      ->check(at_least_one());
  command.add_flag("--force", a.convert.replace, "Replace a set of this name");
  command.add_option("--on-bad", a.on_bad, "A sample that cannot be read: error, or skip it")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  command
      .add_option("--source-format", a.open.format,
                  fmt::format("{} (default: from content)", format_names()))
      ->check(known_format());
  command.add_option("--list", a.open.list, "A .lst or .csv that names and labels samples");
  add_root_files(command, a.open);
  add_reading_options(command, a.open);
  command.add_option("--requests", a.convert.reading.requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  command
      .add_option("--budget", a.convert.reading.budget_bytes,
                  "Memory for data on its way, such as 256M")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command.add_flag("--json", a.json, "One JSON object on stdout");
}

void add_change_options(CLI::App& command, WriteArguments& a) {
  constexpr int kBest = 100;
  auto* const split =
      command
          .add_option("--split", a.convert.validation,
                      "This share of the samples goes into a set of its own: OUT/train and "
                      "OUT/validation")
          ->check(CLI::Range(0.0, 1.0));
  command.add_option("--seed", a.convert.seed, "Chooses the samples of --split")
      ->needs(split)
      ->capture_default_str();
  command
      .add_flag("--stratify", a.convert.stratified, "--split takes the same share of each label")
      ->needs(split);
  command
      .add_option("--resize", a.reencode.resize,
                  "Make pictures smaller: their shorter side, in pixels (default: untouched)")
      ->check(at_least_one());
  command
      .add_option("--quality", a.reencode.quality,
                  "Store every picture as JPEG of this quality (default: untouched, and 95 for "
                  "what --resize made smaller)")
      ->check(CLI::Range(1, kBest));
  auto* const part = command.add_option(
      "--part", a.part, "I/N: write the I-th of N parts only, on this machine; then --finish");
  command
      .add_flag("--finish", a.convert.finish,
                "Close the set, once all parts are written: give the same options")
      ->excludes(part);
}

void check_write_options(const WriteArguments& arguments) {
  ConvertOptions options = arguments.convert;
  auto checked = read_part(arguments.part, options);
  if (checked) checked = check_convert(options);
  if (checked) {
    if (auto where = destination(arguments); !where) checked = std::move(where).error();
  }
  if (!checked) throw CLI::ValidationError("options", checked.error().to_string());
}

Result<int> write_set(const WriteArguments& arguments, const std::stop_token& stop) {
  const Context context;
  ConvertOptions options = arguments.convert;
  HEADRACE_TRY(read_part(arguments.part, options));
  HEADRACE_TRY(const auto where, destination(arguments));
  HEADRACE_TRY(const auto source, open_source(arguments.source, context, arguments.open, stop));
  HEADRACE_TRY(const auto out, open_store(where.first, context,
                                          {.root = StoreOptions::Root::folder, .stop = stop}));
  const OpenOptions& open = arguments.open;
  options.reading_text =
      fmt::format("{} {} {} {} {} {}", open.list, open.list_root, open.image_key, open.label_key,
                  static_cast<int>(open.label_base), static_cast<int>(open.recordio_parts));
  Reencoder reencoder(arguments.reencode);
  if (arguments.reencode.resize != 0 || arguments.reencode.quality != 0) {
    options.change = {.text = arguments.reencode.to_text(),
                      .apply = [&](const Bytes& picture) { return reencoder.apply(picture); }};
  }
  WorkProgress progress;
  options.key = where.second;
  if (where.first.scheme == Scheme::local) options.folder = where.first.path;
  options.skip_bad = arguments.on_bad == "skip";
  if (options.jobs == 0) options.jobs = processors();
  options.progress = &progress;
  options.stop = stop;
  const Nanos begin = real_clock().now();
  auto line = std::make_unique<WorkLine>("writing", progress, source.set->size());
  auto report = convert(*source.store, *source.set, *out, options, context);
  line.reset();
  if (!report) return std::move(report).error();
  const double seconds = std::chrono::duration<double>(real_clock().now() - begin).count();
  const auto notices = context.notices->all();
  if (arguments.json) {
    fmt::print("{}\n", convert_json(*report, options.format, seconds, notices));
  } else {
    fmt::print("{}", convert_text(*report, seconds, notices));
  }
  return 0;
}

}  // namespace headrace::app
