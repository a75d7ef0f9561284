// SPDX-License-Identifier: Apache-2.0
#include "source_options.h"

#include "headrace/base/uri.h"
#include "headrace/job/cli_scan_line.h"
#include "headrace/records/cli_reading.h"
#include "headrace/records/formats.h"
#include "headrace/storage/open_store.h"

namespace headrace::app {

void add_root_files(CLI::App& command, OpenOptions& options) {
  command.add_flag("--root-files-skip", options.skip_root_files,
                   "Leave out files that lie beside the class folders");
}

CLI::Validator known_format() {
  std::vector<std::string> names{"auto", "lst", "csv"};
  for (const Format& format : formats()) names.emplace_back(format.name);
  return CLI::IsMember(std::move(names));
}

void add_source_options(CLI::App& command, OpenOptions& options) {
  command.add_option("--format", options.format, "folder, recordio, … (default: from content)")
      ->check(known_format());
  command.add_option("--list", options.list,
                     "A .lst, .csv or SageMaker manifest that names and labels samples");
  add_root_files(command, options);
  add_reading_options(command, options);
}

Result<Source> open_source(const std::string& text, const Context& context, OpenOptions options,
                           const std::stop_token& stop) {
  HEADRACE_TRY(const Uri uri, parse_uri(text));
  Source source;
  HEADRACE_TRY(source.store, open_store(uri, context, {.stop = stop}));
  options.stop = stop;
  ScanLine line;
  options.scanning = &line.progress();
  HEADRACE_TRY(source.set, open_dataset(*source.store, context, options));
  return source;
}

}  // namespace headrace::app
