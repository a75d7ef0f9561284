// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "headrace/base/uri.h"
#include "headrace/consumers/mount/mount_point.h"
#include "headrace/job/job.h"
#include "headrace/job/media_file.h"

namespace headrace {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::direct:
      return "direct";
    case Mode::file:
      return "file";
    case Mode::stream:
      return "stream";
    case Mode::keep:
      return "keep";
    case Mode::fastfile:
      return "fastfile";
    case Mode::pipe:
      break;
  }
  return "pipe";
}

Result<Mode> parse_mode(std::string_view text) {
  for (const auto mode :
       {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::fastfile, Mode::pipe}) {
    if (text == to_string(mode)) return mode;
  }
  return Error(Code::invalid, fmt::format("unknown mode \"{}\"", text),
               "modes are direct, file, stream, keep, fastfile and pipe");
}

Mode default_mode(std::string_view uri) {
  const auto parsed = parse_uri(uri);
  return parsed.ok() && parsed->scheme == Scheme::s3 ? Mode::keep : Mode::direct;
}

void drop_other_modes(JobOptions& options) {
  options.with.clear();
  options.loader.selection = {};
  const Mode mode = options.mode.value_or(default_mode(options.uri));
  options.snapshot.file.clear();  // a file is of one place
  if (mode == Mode::fastfile) options.snapshot = {};
  if (mode != Mode::keep) {
    options.keep_dir.clear();
    options.keep_bytes = 0;
    options.keep_medium.clear();
    options.loader.partial_reads = false;
  }
  if (mode != Mode::pipe) {
    options.pipe_dir.clear();
    options.pipe_channel = JobOptions().pipe_channel;
    options.pipe_pairs = false;
    options.pipe_wait = 0;
  }
}

/// What several sets cannot have.
Result<void> check_several(const JobOptions& options, Mode mode) {
  if (mode == Mode::pipe && options.loader.selection.given()) {
    return Error(Code::invalid, "a pipe carries each sample once",
                 "leave proportions and weights out, or choose another --mode");
  }
  if (options.with.empty()) return {};
  if (mode == Mode::pipe) {
    return Error(Code::invalid, "a pipe carries one set, and this job has several",
                 "choose another --mode, or make one set of them with headrace convert");
  }
  if (!options.snapshot.file.empty()) {
    return Error(Code::invalid, "--snapshot-file belongs to one set, and this job has several",
                 "leave it out: without it each set's listing is kept in a file of its own");
  }
  const bool one_copy = !options.local.empty() && mode == Mode::direct;
  if (!one_copy && options.open.list.empty()) return {};
  return Error(Code::invalid,
               fmt::format("{} belongs to one set, and this job has several",
                           one_copy ? "--local" : "--list"),
               "name the copies or the manifests themselves as the sets");
}

Result<void> check_options(const JobOptions& options) {
  const Mode mode = options.mode.value_or(default_mode(options.uri));
  const bool copied = mode == Mode::direct || mode == Mode::file;
  struct Rule {
    std::string_view option;
    bool given;
    bool fits;
    std::string_view belongs_to;
  };
  const std::array<Rule, 11> rules = {{
      {"--local", !options.local.empty(), copied, "direct and file"},
      {"--keep-dir", !options.keep_dir.empty(), mode == Mode::keep, "keep"},
      {"--keep-size", options.keep_bytes != 0, mode == Mode::keep, "keep"},
      {"--keep-medium", !options.keep_medium.empty(), mode == Mode::keep, "keep"},
      {"--partial-reads", options.loader.partial_reads, mode == Mode::keep, "keep"},
      {"--pipe-dir", !options.pipe_dir.empty(), mode == Mode::pipe, "pipe"},
      {"--channel", options.pipe_channel != JobOptions().pipe_channel, mode == Mode::pipe, "pipe"},
      {"--snapshot", options.snapshot.use != SnapshotUse::none, mode != Mode::fastfile,
       "direct, file, stream, keep and pipe"},
      {"--expect", !options.expect.empty(), mode != Mode::fastfile, "direct, file and pipe"},
      {"--pipe-wait", options.pipe_wait != 0, mode == Mode::pipe && !options.pipe_dir.empty(),
       "pipe with --pipe-dir"},
      {"--pairs", options.pipe_pairs, mode == Mode::pipe, "pipe"},
  }};
  for (const Rule& rule : rules) {
    if (!rule.given || rule.fits) continue;
    return Error(Code::invalid,
                 fmt::format("{} belongs to mode {}, and this job has mode {}", rule.option,
                             rule.belongs_to, to_string(mode)),
                 fmt::format("leave {} out, or choose --mode", rule.option));
  }
  if (!options.snapshot.file.empty() && options.snapshot.use == SnapshotUse::none) {
    return Error(Code::invalid, "--snapshot-file belongs to --snapshot",
                 "give --snapshot refresh or reuse, too");
  }
  HEADRACE_TRY(check_several(options, mode));
  HEADRACE_TRY(check_loader_options(options.loader));
  HEADRACE_TRY(check_proportions(options.loader.selection.proportions, 1 + options.with.size()));
  for (const std::string& medium : {options.medium, options.keep_medium}) {
    if (medium.empty()) continue;
    HEADRACE_TRY(medium_for(medium, options.scale));
  }
  return {};
}

std::string why_not_here(Mode mode) { return mode == Mode::fastfile ? mount::obstacle() : ""; }

}  // namespace headrace
