// SPDX-License-Identifier: Apache-2.0
// The S3 test server as a program, for tests that are not in C++: serves a folder from memory, goes
// wrong as often as it is told, and ends with its standard input.
//
//   headrace-s3-fault-server DIR [--seed N] [--page N] [--page-ms N] [--checksums] [NAME=RATE]…
//
// It prints its endpoint; the bucket is "b". At the end it prints one line of JSON: the requests,
// and how often each fault happened.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "headrace/storage/testing/s3_faults.h"
#include "headrace/storage/testing/s3_test_server.h"

namespace {

using headrace::testing::FaultRates;
using headrace::testing::HttpAnswer;
using headrace::testing::S3Faults;
using headrace::testing::S3Seen;
using headrace::testing::S3TestServer;

struct Arguments {
  std::string folder;
  std::uint64_t seed = 1;
  std::size_t page = 1000;
  std::chrono::milliseconds page_time{0};
  bool checksums = false;
  FaultRates rates;
};

Arguments parse(const std::vector<std::string>& given) {
  Arguments arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& text = given[i];
    const auto next = [&] { return std::stoull(given.at(++i)); };
    const auto equals = text.find('=');
    if (text == "--seed") {
      arguments.seed = next();
    } else if (text == "--page") {
      arguments.page = next();
    } else if (text == "--page-ms") {
      arguments.page_time = std::chrono::milliseconds(next());
    } else if (text == "--checksums") {
      arguments.checksums = true;
    } else if (equals != std::string::npos) {
      arguments.rates[text.substr(0, equals)] = std::stod(text.substr(equals + 1));
    } else {
      arguments.folder = text;
    }
  }
  return arguments;
}

void load(S3TestServer& server, const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    server.put(entry.path().lexically_relative(folder).generic_string(),
               std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

int run(const Arguments& arguments) {
  auto faults = S3Faults::make(arguments.rates, arguments.seed);
  if (!faults) {
    fmt::print(stderr, "{}\n", faults.error().to_string());
    return 2;
  }
  S3TestServer server({.page = arguments.page, .checksums = arguments.checksums});
  load(server, arguments.folder);
  server.plan([faults = *faults, &arguments](const S3Seen& request, HttpAnswer& right) {
    if (request.query.contains("list-type")) right.delay = arguments.page_time;
    faults->befall(request, right);
  });
  fmt::print("{}\n", server.endpoint());
  std::ignore = std::fflush(stdout);
  while (std::cin.get() != std::char_traits<char>::eof()) {
  }
  const nlohmann::json report = {{"requests", server.seen().size()},
                                 {"faults", (*faults)->counts()}};
  fmt::print("{}\n", report.dump());
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> given(values + 1, values + count);
  if (given.empty() || given.front() == "--help") {
    fmt::print(
        "headrace-s3-fault-server DIR [--seed N] [--page N] [--page-ms N] [--checksums] "
        "[NAME=RATE]...\nFaults:\n{}",
        headrace::testing::fault_names());
    return given.empty() ? 2 : 0;
  }
  try {
    return run(parse(given));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
