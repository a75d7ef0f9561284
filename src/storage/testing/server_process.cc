// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/server_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace headrace::testing {

ServerProcess::ServerProcess(const std::string& script) : script_(script) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe for " + script);
  const UniqueFd child_in(in[0]);
  stdin_ = UniqueFd(in[1]);
  stdout_ = UniqueFd(out[0]);
  const UniqueFd child_out(out[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, child_in.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), 1);
  std::string program = script;
  std::string action = "run";
  std::string folder = folder_.string();
  std::array<char*, 4> arguments = {program.data(), action.data(), folder.data(), nullptr};
  const int failed =
      ::posix_spawn(&pid_, script.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + script);
}

ServerProcess::~ServerProcess() {
  stdin_ = UniqueFd();
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

std::map<std::string, std::string> ServerProcess::wait_until_ready() {
  std::map<std::string, std::string> variables;
  for (std::string line = read_line(); line != "ready"; line = read_line()) {
    if (line.empty()) throw std::runtime_error(script_ + " did not start its server");
    const auto equals = line.find('=');
    if (line.starts_with("export ") && equals != std::string::npos)
      variables[line.substr(7, equals - 7)] = line.substr(equals + 1);
  }
  return variables;
}

void ServerProcess::tell(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(stdin_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error(script_ + " does not listen");
}

std::string ServerProcess::read_line() {
  std::string line;
  for (char c = 0; ::read(stdout_.get(), &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace headrace::testing
