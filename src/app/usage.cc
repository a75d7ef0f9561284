// SPDX-License-Identifier: Apache-2.0
#include "usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/advisor/nearest.h"

namespace headrace::app {
namespace {

constexpr int kUsage = 2;

std::string meant(std::string_view given, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto found = advisor::nearest(given, views);
  return found ? fmt::format(" (is \"{}\" meant?)", *found) : "";
}

/// The command that was named last: options after it are its own.
const CLI::App& chosen(const CLI::App& root) {
  const CLI::App* at = &root;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// A word where a command should stand; empty if there is none.
std::string no_command(const CLI::App& app) {
  if (commands_of(app).empty()) return "";
  const auto words = app.remaining();
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const std::string& text) { return !text.starts_with('-'); });
  if (word == words.end()) return "";
  return fmt::format("no command is called \"{}\"{}", *word, meant(*word, commands_of(app)));
}

/// What a command does not know falls through to the program, which keeps it.
std::string no_option(const CLI::App& root, const CLI::App& command) {
  for (const std::string& word : root.remaining(true)) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("no option is called \"{}\"{}", name, meant(name, options_of(command)));
  }
  return "";
}

}  // namespace

int tell_usage(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = chosen(root);
  std::string wrong = no_command(command);
  if (wrong.empty() && error.get_exit_code() == 0) return root.exit(error);
  if (wrong.empty() && error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
    wrong = no_option(root, command);
  if (wrong.empty()) wrong = error.what();
  fmt::print(stderr, "headrace: invalid: {}\nRun with --help or --help-all for more information.\n",
             wrong);
  return kUsage;
}

}  // namespace headrace::app
