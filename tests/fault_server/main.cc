// SPDX-License-Identifier: Apache-2.0
// The S3 test server as a program, for tests that are not in C++: serves a folder from memory, goes
// wrong as often as it is told, and ends with its standard input.
//
//   headrace-s3-fault-server DIR [--seed N] [--page N] [--page-ms N] [--checksums] [--outage
//   FROM:TO]
//                            [--classes C --keys N] [NAME=RATE]…
//
// With --classes and --keys it serves N empty-looking keys in C classes besides. During an outage,
// in seconds since the first read of an object, no request is answered. It prints its endpoint; the
// bucket is "b". At the end it prints one line of JSON: the requests, and how often each fault
// happened.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "headrace/base/mutex.h"
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
  std::size_t classes = 0;
  std::size_t keys = 0;
  double outage_from = 0;
  double outage_to = 0;
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
    } else if (text == "--classes") {
      arguments.classes = next();
    } else if (text == "--keys") {
      arguments.keys = next();
    } else if (text == "--outage") {
      const std::string& span = given.at(++i);
      arguments.outage_from = std::stod(span);
      arguments.outage_to = std::stod(span.substr(span.find(':') + 1));
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

/// Since the first GET of an object.
class Outage {
 public:
  Outage(double from, double to) : from_(from), to_(to) {}

  void befall(const S3Seen& request, HttpAnswer& right) {
    if (to_ <= from_) return;
    const auto now = std::chrono::steady_clock::now();
    const headrace::MutexLock lock(mutex_);
    if (!begin_ && !request.key.empty() && request.method == "GET") begin_ = now;
    if (!begin_) return;
    const double seconds = std::chrono::duration<double>(now - *begin_).count();
    if (seconds < from_ || seconds >= to_) return;
    right.nothing = true;
    right.end = HttpAnswer::End::reset;
  }

 private:
  const double from_;
  const double to_;
  headrace::Mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> begin_ HEADRACE_GUARDED_BY(mutex_);
};

int run(const Arguments& arguments) {
  auto faults = S3Faults::make(arguments.rates, arguments.seed);
  if (!faults) {
    fmt::print(stderr, "{}\n", faults.error().to_string());
    return 2;
  }
  S3TestServer server({.page = arguments.page, .checksums = arguments.checksums});
  load(server, arguments.folder);
  for (std::size_t i = 0; i < arguments.keys; ++i)
    server.put(fmt::format("class-{:04}/{:09}.jpg", i % arguments.classes, i), "x");
  const auto outage = std::make_shared<Outage>(arguments.outage_from, arguments.outage_to);
  server.plan([faults = *faults, outage, &arguments](const S3Seen& request, HttpAnswer& right) {
    if (request.query.contains("list-type")) right.delay = arguments.page_time;
    faults->befall(request, right);
    outage->befall(request, right);
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
        "[--outage FROM:TO] [--classes C --keys N] [NAME=RATE]...\nFaults:\n{}",
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
