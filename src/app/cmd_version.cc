// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"
#include "headrace/decode/versions.h"

namespace headrace::app {

void add_version(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("version", "Print the version, and those of the decoders");
  command->footer(
      "Example:\n  headrace version\n"
      "A progressive JPEG that lacks scans is smoothed in another way by each libjpeg-turbo.");
  command->callback([&invocation] {
    invocation.run = [](const std::stop_token&) -> Result<int> {
      fmt::print("headrace {}\n", HEADRACE_VERSION);
      for (const DecoderVersion& decoder : decoder_versions())
        fmt::print("{} {}\n", decoder.library, decoder.version);
      return 0;
    };
  });
}

}  // namespace headrace::app
