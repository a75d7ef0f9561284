// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "command.h"
#include "headrace/advisor/compare.h"
#include "headrace/advisor/look.h"
#include "headrace/advisor/report.h"
#include "headrace/advisor/result_json.h"
#include "headrace/advisor/text_report.h"
#include "headrace/advisor/yaml.h"
#include "headrace/base/printable.h"
#include "headrace/base/writable.h"
#include "headrace/job/cli_scan_line.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  headrace compare s3://bucket/photos --local /data/photos --epochs 3 --report report.html
  headrace compare s3://bucket/photos --modes stream,keep --instance ml.g5.xlarge --json
  headrace compare s3://b/raw s3://b/packed --medium direct=nvme,pipe=pipe-sagemaker,s3-standard
  headrace compare s3://b/photos --modes keep --keep-medium ebs-gp3 --partial-reads
  headrace compare experiment.yaml          (keys are these options; see src/advisor/COMPARE.md)

Each mode runs in a process of its own, repeats interleaved, files made cold before each run. A
mode that cannot run here is a row that says why. All modes must deliver the same samples in the
same order, or the comparison fails.)";

constexpr int kUsage = 2;

/// What the command line says. Lists are kept by option name, flags too.
struct Arguments {
  std::vector<std::string> uris;
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::map<std::string, bool, std::less<>> flags;
  bool json = false;
};

bool is_experiment(const std::string& uri) {
  const auto extension = std::filesystem::path(uri).extension();
  std::error_code ignored;
  return (extension == ".yaml" || extension == ".yml") &&
         std::filesystem::is_regular_file(uri, ignored);
}

/// The file's values, if there is one, with the command line's on top.
Result<advisor::Experiment> experiment_of(const Arguments& arguments) {
  advisor::Experiment experiment;
  if (arguments.uris.size() == 1 && is_experiment(arguments.uris.front())) {
    HEADRACE_TRY(const auto file, advisor::read_data_file(arguments.uris.front(), {}));
    HEADRACE_TRY(experiment, advisor::parse_experiment(file.text, file.path));
  } else {
    experiment.common["uri"] = arguments.uris;
  }
  for (const auto& [name, given] : arguments.values) {
    if (!given.empty()) experiment.common[name] = given;
  }
  for (const auto& [name, given] : arguments.flags) {
    if (given) experiment.common[name] = {"true"};
  }
  return experiment;
}

/// "keep on folder, repeat 2 of 3, run 7 of 27, 1:05 left"
class RunProgress {
 public:
  void show(const advisor::Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (progress.done == 0) begin_ = now;
    std::string left;
    if (progress.done > 0) {
      const double spent = std::chrono::duration<double>(now - begin_).count();
      const auto runs_left = static_cast<double>(progress.all - progress.done);
      left = ", " + human_time(spent / static_cast<double>(progress.done) * runs_left) + " left";
    }
    line_.show(fmt::format("{}, repeat {} of {}, run {} of {}{}", progress.label,
                           progress.repeat + 1, progress.repeats, progress.done + 1, progress.all,
                           left));
  }
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point begin_;
};

/// Says on stderr what went wrong; whether everything that was asked was done, and done alike.
bool succeeded(const advisor::Comparison& found) {
  bool any = false;
  bool failed = false;
  for (const auto& table : found.tables) {
    for (const auto& row : table.rows) {
      any = any || row.status == advisor::Status::ok;
      if (row.status != advisor::Status::failed) continue;
      failed = true;
      fmt::print(stderr, "headrace: mode {} failed on {}: {}\n", row.mode, row.uri,
                 printable(row.why));
    }
  }
  for (const auto& sentence : found.disagreements) {
    fmt::print(stderr, "headrace: corrupt: {}\n", sentence);
  }
  if (!any && !failed) fmt::print(stderr, "headrace: no mode can run here\n");
  return any && !failed && found.disagreements.empty();
}

/// What a mode's process will be given, in the mode to which most options belong.
std::vector<std::string> words_for_read(const advisor::TableSpec& table,
                                        const advisor::SetSpec& set) {
  auto words = set.uris();
  words.insert(words.end(), {"--mode", "keep"});
  if (table.partial_reads) words.emplace_back("--partial-reads");
  words.insert(words.end(), table.read_flags.begin(), table.read_flags.end());
  return words;
}

Result<advisor::CompareSpec> spec_of(const Arguments& arguments) {
  HEADRACE_TRY(const auto experiment, experiment_of(arguments));
  HEADRACE_TRY(auto spec, advisor::make_spec(experiment));
  HEADRACE_TRY(advisor::check_places(spec));
  HEADRACE_TRY(advisor::check_names(spec));
  for (const auto& table : spec.tables) {
    for (const auto& set : table.sets) HEADRACE_TRY(check_read(words_for_read(table, set)));
  }
  return spec;
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const auto asked = spec_of(arguments);
  if (!asked) {
    fmt::print(stderr, "headrace: {}: {}\n", to_string(asked.error().code()),
               printable(asked.error().to_string()));
    return asked.error().code() == Code::invalid ? kUsage : 1;
  }
  const auto& spec = *asked;
  if (!spec.report.empty()) HEADRACE_TRY(check_can_write(spec.report));
  RunProgress line;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return errno_error(error.value(), "find this program");
  advisor::CompareOptions options;
  options.version = HEADRACE_VERSION;
  options.runner.program = {self.string(), "read"};
  options.runner.on_run = [&line](const advisor::Progress& progress) { line.show(progress); };
  options.look = [](const std::string& uri, OpenOptions open, const std::stop_token& ended) {
    ScanLine scan;
    open.scanning = &scan.progress();
    return advisor::look_at_set(uri, open, ended);
  };
  if (!spec.prepare.empty()) {
    fmt::print(stderr, "headrace: preparing: {}\n", fmt::join(spec.prepare, " "));
    HEADRACE_TRY(advisor::prepare(spec, stop));
  }
  const auto found = advisor::compare(spec, options, stop);
  line.clear();
  if (!found) return found.error();
  if (arguments.json) {
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // paths may not be UTF-8
    fmt::print("{}\n", advisor::to_json(*found).dump(2, ' ', false, kReplace));
  } else {
    fmt::print("{}", advisor::to_text(*found));
  }
  if (!spec.report.empty()) {
    HEADRACE_TRY(advisor::write_report(*found, spec.report));
    if (!arguments.json) fmt::print("\nReport: {}\n", spec.report);
  }
  return succeeded(*found) ? 0 : 1;
}

}  // namespace

void add_compare(CLI::App& root, Invocation& invocation) {
  auto* command = root.add_subcommand(
      "compare", "Run one job in every mode, and say how they compare and which to choose");
  command->footer(kExamples);
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("uri", arguments->uris,
                   "The set; several forms of it (raw, packed); or an experiment file")
      ->type_name("URI|FILE.yaml")
      ->required();
  for (const auto& option : advisor::options()) {
    const auto name = std::string(option.name);
    const auto flag = "--" + name;
    const auto help = std::string(option.help);
    if (option.kind == advisor::Kind::flag) {
      command->add_flag(flag, arguments->flags[name], help);
    } else {
      auto* added = command->add_option(flag, arguments->values[name], help);
      added->type_name(std::string(option.value))->allow_extra_args(false);
      if (option.kind != advisor::Kind::list && option.kind != advisor::Kind::map)
        added->expected(1);
    }
  }
  command->add_flag("--json", arguments->json, "Print the result as one JSON object");
  command->callback([&invocation, arguments] {
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
