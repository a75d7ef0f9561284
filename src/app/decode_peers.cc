// SPDX-License-Identifier: Apache-2.0
#include "decode_peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "headrace/advisor/process.h"
#include "headrace/base/bytes.h"
#include "headrace/base/json_count.h"
#include "headrace/base/unique_fd.h"
#include "headrace/base/write_all.h"

namespace headrace::embedded {  // by embed() of cmake/Embed.cmake
extern const std::string_view decode_peers;
}

namespace headrace::app {
namespace {

namespace fs = std::filesystem;

/// The program's text in a file, while this lives.
class Script {
 public:
  static Result<Script> write() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (error) return errno_error(error.value(), "find the folder for temporary files");
    constexpr std::string_view kSuffix = ".py";
    std::string path = (folder / fmt::format("headrace-peers-XXXXXX{}", kSuffix)).string();
    const UniqueFd fd(::mkstemps(path.data(), static_cast<int>(kSuffix.size())));
    if (!fd.valid()) return errno_error(errno, "make a file").at(path);
    Script script(std::move(path));
    ByteSpan left = as_byte_span(embedded::decode_peers);
    const int problem = write_all(fd.get(), left);
    if (problem != 0) return errno_error(problem, "write").at(script.path());
    return script;
  }
  Script(Script&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Script(const Script&) = delete;
  ~Script() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Script(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<std::vector<PeerRate>> parse(const std::string& text, const std::string& python) {
  std::vector<PeerRate> rates;
  try {
    const auto json = nlohmann::json::parse(text);
    for (const auto& row : json.at("rows")) {
      rates.push_back(
          {row.at("who"), row.at("version"), static_cast<unsigned>(json_count(row.at("threads"))),
           row.at("images_per_second"), row.at("first_batch_seconds"), row.at("peak_mib")});
    }
  } catch (const nlohmann::json::exception& problem) {
    return Error(Code::corrupt, fmt::format("what the peers printed: {}", problem.what()))
        .at(python);
  }
  return rates;
}

}  // namespace

Result<std::vector<PeerRate>> measure_peers(const PeerBench& bench, const std::stop_token& stop) {
  HEADRACE_TRY(const Script script, Script::write());
  std::vector<PeerRate> rates;
  for (const auto& python : bench.pythons) {
    std::vector<std::string> command{python,      script.path(),
                                     "--data",    bench.folder,
                                     "--threads", fmt::format("{}", bench.threads),
                                     "--seconds", fmt::format("{}", bench.seconds),
                                     "--without"};
    for (const auto& rate : rates) command.push_back(rate.who);
    HEADRACE_TRY(const auto ended, advisor::run_process(command, stop).at(python));
    if (ended.code != 0) {
      return Error(Code::invalid, fmt::format("the peers ended with {}: {}", ended.code, ended.err),
                   "name another Python by --peers-python, or give --without-peers")
          .at(python);
    }
    HEADRACE_TRY(auto found, parse(ended.out, python));
    std::ranges::move(found, std::back_inserter(rates));
  }
  return rates;
}

}  // namespace headrace::app
