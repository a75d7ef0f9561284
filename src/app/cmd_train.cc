// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "command.h"
#include "headrace/base/process.h"
#include "headrace/base/signal_stop.h"

namespace headrace::app {
namespace {

/// Becomes headrace-train, the program that knows libtorch; returns only if that failed.
Error become_trainer(std::vector<std::string> arguments) {
  auto folder = program_folder();
  if (!folder) return std::move(folder).error();
  const std::string program = *folder + "/headrace-train";
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // OpenMP's threads spin at each barrier by default, and take the processors from those that
  // decode: on 2 busy processors ResNet-20 was more than 5 times as slow with it. Read at program
  // start.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  SignalStop::undo();
  ::execv(program.c_str(), argv.data());
  return errno_error(errno, "start")
      .at(program)
      .advise("build with libtorch (Debian: libtorch-dev) and -DHEADRACE_TRAIN=ON");
}

}  // namespace

void add_train(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("train", "Train an image classifier (starts headrace-train)");
  command->prefix_command();
  command->set_help_flag();  // headrace-train prints its own help
  command->callback([command, &invocation] {
    invocation.run = [arguments =
                          command->remaining()](const std::stop_token& stop) -> Result<int> {
      if (stop.stop_requested()) return kStoppedExit;  // the next program would not know of it
      return become_trainer(arguments);
    };
  });
}

}  // namespace headrace::app
