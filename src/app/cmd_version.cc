// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"

namespace headrace::app {

void add_version(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand("version", "Print the version");
  command->footer("Example:\n  headrace version");
  command->callback([&invocation] {
    invocation.run = [](const std::stop_token&) -> Result<int> {
      fmt::print("headrace {}\n", HEADRACE_VERSION);
      return 0;
    };
  });
}

}  // namespace headrace::app
