// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "headrace/advisor/cold.h"
#include "headrace/advisor/process.h"
#include "headrace/base/uri.h"

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;

/// A folder for one run; removed with all that is in it.
class Scratch {
 public:
  static Result<Scratch> make(const std::string& below) {
    std::error_code error;
    fs::path parent = below;
    if (below.empty()) {
      const char* set = std::getenv("TMPDIR");
      // /var/tmp: /tmp may be memory, and then a copy in it is no disk
      parent = set != nullptr && *set != '\0' ? set : "/var/tmp";
    }
    fs::create_directories(parent, error);
    if (error) {
      return errno_error(error.value(), "make a folder for a run's files").at(parent.string());
    }
    auto name = (parent / "headrace-compare-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      return errno_error(errno, "make a folder for a run's files").at(parent.string());
    }
    return Scratch(std::move(name));
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string below(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool in_bucket(const std::string& uri) {
  const auto parsed = parse_uri(uri);
  return parsed.ok() && parsed->scheme == Scheme::s3;
}

bool any_in_bucket(const std::vector<std::string>& uris) {
  return std::any_of(uris.begin(), uris.end(), in_bucket);
}

/// What makes a mode impossible on a set; empty if nothing does.
std::string obstacle(Mode mode, const SetSpec& set, const SetInfo& info) {
  if (mode == Mode::direct && any_in_bucket(set.uris()) && set.local.empty()) {
    return "needs a copy on a disk or mount of this machine: --local PATH";
  }
  if (std::string why = why_not_here(mode); !why.empty()) return why;
  if (mode == Mode::pipe && !set.with.empty()) {
    return "a pipe carries one set, and this job has several";
  }
  const bool pictures = info.format == "folder" || info.format == "lst" || info.format == "csv";
  if (mode == Mode::pipe && pictures) {
    return "needs packing (headrace pack) or pairs of picture and label: a pipe of bare pictures "
           "carries no labels";
  }
  return {};
}

/// Everything of one row while its repeats run.
struct Plan {
  Row row;
  Mode mode = Mode::direct;
  const SetSpec* set = nullptr;
  std::vector<Measurement> runs;
  std::vector<std::string> failures;
  Cold cold = Cold::verified;

  bool runs_still() const { return row.why.empty() && failures.empty(); }
};

std::vector<Plan> make_plans(const TableSpec& table, const std::vector<SetInfo>& sets) {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < table.sets.size(); ++i) {
    for (const auto mode : table.modes) {
      for (const auto& medium : table.media_of(mode)) {
        Plan plan;
        plan.mode = mode;
        plan.set = &table.sets[i];
        plan.row.mode = to_string(mode);
        plan.row.medium = medium;
        plan.row.format = sets[i].format;
        plan.row.uri = plan.set->uri;
        plan.row.scale = table.scale;
        plan.row.fitted = table.fitted;
        if (const auto found = table.published.find(mode); found != table.published.end()) {
          plan.row.published_seconds = found->second;
        }
        plan.row.why = obstacle(mode, *plan.set, sets[i]);
        if (mode == Mode::keep && !table.keep_medium.empty())
          plan.row.keep_medium = table.keep_medium;
        plans.push_back(plan);
        if (mode != Mode::keep || !table.partial_reads) continue;
        plan.row.partial_reads = true;
        plans.push_back(std::move(plan));
      }
    }
  }
  return plans;
}

class TableRun {
 public:
  TableRun(const TableSpec& table, const RunnerOptions& options, const std::stop_token& stop)
      : table_(table), options_(options), stop_(stop) {}

  /// One repeat of one row. An error stops the table; a failure of the mode is kept in the plan.
  Result<void> run(Plan& plan) {
    HEADRACE_TRY(const auto scratch, Scratch::make(table_.keep_dir));
    plan.cold = worse(plan.cold, make_cold(files_of(plan), stop_));
    auto ended = run_process(arguments(plan, scratch), stop_);
    if (!ended) {
      if (ended.error().code() == Code::cancelled) return std::move(ended).error();
      plan.failures.push_back(ended.error().to_string());
      return {};
    }
    if (ended->code != 0) {
      const auto words = last_words(ended->err);
      plan.failures.push_back(!words.empty() ? words
                              : ended->code > 128
                                  ? fmt::format("ended by signal {}", ended->code - 128)
                                  : fmt::format("exit code {}", ended->code));
      return {};
    }
    auto measured = parse_measurement(ended->out);
    if (!measured) {
      plan.failures.push_back(measured.error().to_string());
      return {};
    }
    measured->total_seconds = ended->seconds;
    plan.runs.push_back(*std::move(measured));
    return {};
  }

 private:
  /// What direct reads, a URI in the file system, and the server's files.
  std::vector<std::string> files_of(const Plan& plan) const {
    if (plan.mode == Mode::direct && !plan.set->local.empty()) return plan.set->locals();
    std::vector<std::string> files;
    for (const auto& uri : plan.set->uris()) {
      if (!in_bucket(uri)) files.push_back(path_of(uri));
    }
    if (any_in_bucket(plan.set->uris()))
      files.insert(files.end(), options_.server_data.begin(), options_.server_data.end());
    return files;
  }
  static std::string path_of(const std::string& uri) {
    const auto parsed = parse_uri(uri);
    return parsed.ok() ? parsed->path : uri;
  }

  std::vector<std::string> arguments(const Plan& plan, const Scratch& scratch) const {
    auto argv = options_.program;
    const bool copies = plan.mode == Mode::direct && !plan.set->local.empty();
    const bool several = !plan.set->with.empty();  // each is then read where its copy is
    const auto places = copies && several ? plan.set->locals() : plan.set->uris();
    argv.insert(argv.end(), places.begin(), places.end());
    argv.insert(argv.end(), {"--mode", plan.row.mode});
    if (copies && !several) argv.insert(argv.end(), {"--local", plan.set->local});
    if (plan.mode == Mode::file) argv.insert(argv.end(), {"--local", scratch.below("file")});
    if (plan.mode == Mode::keep) argv.insert(argv.end(), {"--keep-dir", scratch.below("keep")});
    if (plan.row.medium != "none") argv.insert(argv.end(), {"--medium", plan.row.medium});
    if (plan.row.keep_medium != "none")
      argv.insert(argv.end(), {"--keep-medium", plan.row.keep_medium});
    if (plan.row.partial_reads) argv.emplace_back("--partial-reads");
    for (std::size_t i = 0; i < table_.read_flags.size(); ++i) {
      const bool of_keep = table_.read_flags[i] == "--keep-bytes";
      if (of_keep && plan.mode != Mode::keep) {
        ++i;  // its value
      } else {
        argv.push_back(table_.read_flags[i]);
      }
    }
    argv.emplace_back("--json");
    return argv;
  }

  const TableSpec& table_;
  const RunnerOptions& options_;
  const std::stop_token& stop_;
};

}  // namespace

Result<Measurement> read_source(const TableSpec& table, const SetSpec& set,
                                const RunnerOptions& options, const std::stop_token& stop) {
  auto argv = options.program;
  const auto uris = set.uris();
  argv.insert(argv.end(), uris.begin(), uris.end());
  argv.insert(argv.end(), {"--mode", any_in_bucket(uris) ? "stream" : "direct"});
  bool pixels = false;  // a picture that cannot be decoded may then be left out
  for (std::size_t i = 0; i < table.read_flags.size(); ++i) {
    const auto& flag = table.read_flags[i];
    constexpr std::array<std::string_view, 5> kOthers{"--epochs", "--keep-bytes", "--val",
                                                      "--val-local", "--accelerator"};
    if (std::find(kOthers.begin(), kOthers.end(), flag) != kOthers.end()) {
      ++i;  // its value
      continue;
    }
    pixels = pixels || flag == "--on-bad";
    if (flag != "--no-decode") argv.push_back(flag);
  }
  argv.insert(argv.end(), {"--epochs", "1", "--json"});
  if (!pixels) argv.emplace_back("--no-decode");
  HEADRACE_TRY(const auto ended, run_process(argv, stop));
  if (ended.code != 0) return Error(Code::unavailable, last_words(ended.err));
  return parse_measurement(ended.out);
}

std::string last_words(std::string_view err) {
  std::string_view last;
  while (!err.empty()) {
    const auto end = err.find('\n');
    const auto line = err.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) last = line;
    if (end == std::string_view::npos) break;
    err.remove_prefix(end + 1);
  }
  constexpr std::string_view kName = "headrace: ";
  if (last.starts_with(kName)) last.remove_prefix(kName.size());
  return std::string(last);
}

Result<std::vector<Row>> run_table(const TableSpec& table, const std::vector<SetInfo>& sets,
                                   const RunnerOptions& options, const std::stop_token& stop) {
  auto plans = make_plans(table, sets);
  const bool formats = table.sets.size() > 1;
  const auto possible =
      std::count_if(plans.begin(), plans.end(), [](const Plan& plan) { return plan.runs_still(); });
  Progress progress;
  progress.repeats = table.repeats;
  progress.all = static_cast<std::size_t>(possible) * table.repeats;
  TableRun runner(table, options, stop);
  for (unsigned repeat = 0; repeat < table.repeats; ++repeat) {
    for (auto& plan : plans) {
      if (!plan.row.why.empty()) continue;
      if (plan.runs_still()) {
        progress.label = plan.row.label(formats, true);
        progress.repeat = repeat;
        if (options.on_run) options.on_run(progress);
        HEADRACE_TRY(runner.run(plan));
      }
      ++progress.done;
    }
  }
  std::vector<Row> rows;
  for (auto& plan : plans) {
    if (plan.row.why.empty()) conclude(plan.row, plan.runs, plan.cold, plan.failures);
    rows.push_back(std::move(plan.row));
  }
  return rows;
}

}  // namespace headrace::advisor
