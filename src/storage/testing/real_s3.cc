// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/real_s3.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::testing {

/// `scripts/s3-server run`, which ends when its standard input does.
class RealS3::Process {
 public:
  explicit Process(const std::string& script) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe for the S3 server");
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
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    stdin_ = UniqueFd();
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

  /// The "export NAME=value" lines until "ready".
  std::map<std::string, std::string> wait_until_ready() {
    std::map<std::string, std::string> variables;
    for (std::string line = read_line(); line != "ready"; line = read_line()) {
      if (line.empty()) throw std::runtime_error("the S3 server did not start");
      const auto equals = line.find('=');
      if (line.starts_with("export ") && equals != std::string::npos)
        variables[line.substr(7, equals - 7)] = line.substr(equals + 1);
    }
    return variables;
  }

 private:
  std::string read_line() {
    std::string line;
    for (char c = 0; ::read(stdout_.get(), &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  TemporaryFolder folder_;
  UniqueFd stdin_;
  UniqueFd stdout_;
  pid_t pid_ = 0;
};

RealS3::RealS3(const std::string& source_dir) {
  std::map<std::string, std::string> variables;
  for (const char* name : {"HEADRACE_TEST_S3_ENDPOINT", "HEADRACE_TEST_S3_BUCKET",
                           "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}) {
    if (const char* value = std::getenv(name); value != nullptr) variables[name] = value;
  }
  if (!variables.contains("HEADRACE_TEST_S3_ENDPOINT")) {
    process_ = std::make_shared<Process>(source_dir + "/scripts/s3-server");
    variables = process_->wait_until_ready();
  }
  endpoint_ = variables["HEADRACE_TEST_S3_ENDPOINT"];
  bucket_ = variables["HEADRACE_TEST_S3_BUCKET"];
  settings_ = {.credentials = {variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"],
                               "", "the test server"},
               .region = variables["AWS_REGION"],
               .endpoint = endpoint_};
}

const RealS3& RealS3::get(const std::string& source_dir) {
  static const RealS3 server(source_dir);
  return server;
}

S3Options RealS3::options() const { return {.settings = settings_}; }

std::string RealS3::fresh_prefix() const {
  static std::atomic<int> count{0};
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);  // a process id may come again on a server that stays
  return fmt::format("t/{}-{}-{}/", ::getpid(), time.tv_nsec, ++count);
}

StoreWorld::Made RealS3::fresh_world(const Context& context) const {
  auto store = make_s3_store(bucket_, fresh_prefix(), context, options());
  if (!store) throw std::runtime_error(store.error().to_string());
  return {nullptr, *std::move(store)};
}

}  // namespace headrace::testing
