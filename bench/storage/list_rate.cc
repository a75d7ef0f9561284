// SPDX-License-Identifier: Apache-2.0
// list_rate URI: takes a snapshot of what lies below it, and prints one object of JSON with the
// wall and processor seconds, the requests, and the private memory at its peak. For
// bench/storage/list.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "headrace/records/snapshot/snapshot.h"
#include "headrace/storage/open_store.h"

namespace headrace {
namespace {

/// RssAnon of /proc/self/status, in kB.
std::uint64_t private_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10);
  return 0;
}

Result<void> run(const std::string& text) {
  const Context context;
  HEADRACE_TRY(const Uri uri, parse_uri(text));
  HEADRACE_TRY(const auto store, open_store(uri, context, {.root = StoreOptions::Root::folder}));
  std::atomic<std::uint64_t> peak{private_kb()};
  std::jthread watch([&peak](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak = std::max(peak.load(), private_kb());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const auto processor = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  HEADRACE_TRY(const auto snapshot, Snapshot::take(*store, 0, {}));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const auto cpu = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  const std::uint64_t bytes =
      snapshot->objects().entries().size_bytes() + snapshot->objects().names().size();
  const nlohmann::json report = {{"keys", snapshot->objects().size()},
                                 {"seconds", wall.count()},
                                 {"cpu_seconds", cpu},
                                 {"requests", context.metrics->get(Metric::requests)},
                                 {"index_bytes", bytes},
                                 {"private_kB", peak.load()}};
  fmt::print("{}\n", report.dump());
  return {};
}

}  // namespace
}  // namespace headrace

// NOLINTNEXTLINE(bugprone-exception-escape): what cannot be printed ends the program
int main(int count, char** values) {
  if (count != 2) {
    fmt::print(stderr, "list_rate URI\n");
    return 2;
  }
  const auto done = headrace::run(values[1]);
  if (!done) fmt::print(stderr, "{}\n", done.error().to_string());
  return done ? 0 : 1;
}
