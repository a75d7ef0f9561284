// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cmd_keep_warm.h"
#include "command.h"
#include "headrace/base/printable.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/keep/survey.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string dir;
  std::string store;
  bool keys = false;
  bool purge = false;
  bool json = false;
};

Result<std::string> directory(const Arguments& arguments) {
  if (!arguments.dir.empty()) return arguments.dir;
  return default_keep_dir();
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
}

/// JSON is UTF-8, keys are any bytes: what is none is replaced.
std::string dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string date(std::int64_t nanos) {
  constexpr std::int64_t kNanos = 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(nanos / kNanos)));
}

struct Total {
  std::uint64_t segments = 0;
  std::uint64_t live = 0;
  std::uint64_t wanted = 0;
  std::uint64_t objects = 0;
  std::uint64_t pieces = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::int64_t used_ns = 0;

  void add(const keep::SegmentReport& segment) {
    ++segments;
    live += segment.live ? 1 : 0;
    wanted += segment.wanted ? 1 : 0;
    objects += segment.objects;
    pieces += segment.pieces;
    data_bytes += segment.data_bytes;
    disk_bytes += segment.disk_bytes;
    used_ns = std::max(used_ns, segment.used_ns);
  }
  ordered_json to_json() const {
    return {{"segments", segments},     {"live", live},
            {"wanted", wanted},         {"objects", objects},
            {"pieces", pieces},         {"data_bytes", data_bytes},
            {"disk_bytes", disk_bytes}, {"last_used", date(used_ns)}};
  }
};

/// A store that nothing is kept of is a slip of the pen: its name is that of the job's URI.
Result<void> check_store(const std::string& dir, const std::string& store,
                         const std::stop_token& stop) {
  if (store.empty()) return {};
  HEADRACE_TRY(const auto survey, keep::survey(dir, stop));
  for (const auto& segment : survey.segments) {
    if (segment.store == store) return {};
  }
  return Error(Code::not_found, fmt::format("nothing is kept of a store \"{}\"", store),
               "headrace keep list says the names")
      .at(dir);
}

Result<int> list_keys(const std::string& dir, const Arguments& arguments,
                      const std::stop_token& stop) {
  ordered_json rows = ordered_json::array();
  HEADRACE_TRY(keep::list_pieces(dir, stop, [&](const keep::KeptPiece& piece) -> Result<void> {
    if (piece.key.empty() && piece.offset == 0) return {};
    if (!arguments.store.empty() && piece.store != arguments.store) return {};
    if (arguments.json) {
      rows.push_back({{"store", piece.store},
                      {"key", piece.key},
                      {"offset", piece.offset},
                      {"length", piece.length},
                      {"derived", piece.derived}});
    } else {
      fmt::print("{:>8} @ {:<10} {}\n", piece.length, piece.offset,
                 piece.key.empty() ? "(the object above)" : printable(piece.key));
    }
    return {};
  }));
  if (arguments.json) fmt::print("{}\n", dump({{"schema", 1}, {"dir", dir}, {"pieces", rows}}));
  return 0;
}

Result<int> list(const Arguments& arguments, const std::stop_token& stop) {
  HEADRACE_TRY(const auto dir, directory(arguments));
  HEADRACE_TRY(check_store(dir, arguments.store, stop));
  if (arguments.keys) return list_keys(dir, arguments, stop);
  HEADRACE_TRY(const auto survey, keep::survey(dir, stop));
  std::map<std::string, Total> by_store;
  for (const auto& segment : survey.segments) {
    if (arguments.store.empty() || arguments.store == segment.store) {
      by_store[segment.store].add(segment);
    }
  }
  if (arguments.json) {
    ordered_json rows = ordered_json::array();
    for (const auto& [store, total] : by_store) {
      ordered_json row = {{"store", store}};
      row.update(total.to_json());
      rows.push_back(std::move(row));
    }
    fmt::print("{}\n", dump({{"schema", 1}, {"dir", dir}, {"stores", rows}}));
    return 0;
  }
  fmt::print("{:>12} {:>10} {:>9} {:>7}  {:<16}  {}\n", "MB", "objects", "segments", "in use",
             "last wanted UTC", "store");
  for (const auto& [store, total] : by_store) {
    fmt::print("{:>12} {:>10} {:>9} {:>7}  {:<16}  {}\n", megabytes(total.data_bytes),
               total.objects, total.segments, std::max(total.live, total.wanted),
               date(total.used_ns),
               store.empty() ? "(not readable by this version)" : printable(store));
  }
  return 0;
}

Result<int> stat(const Arguments& arguments, const std::stop_token& stop) {
  HEADRACE_TRY(const auto dir, directory(arguments));
  HEADRACE_TRY(const auto survey, keep::survey(dir, stop));
  Total total;
  for (const auto& segment : survey.segments) total.add(segment);
  if (arguments.json) {
    ordered_json json = {{"schema", 1}, {"dir", dir}};
    json.update(total.to_json());
    json["disk_bytes"] = survey.disk_bytes;
    json["left_behind_bytes"] = survey.left_behind_bytes;
    json["free_bytes"] = survey.free_bytes;
    fmt::print("{}\n", dump(json));
    return 0;
  }
  fmt::print("{}\n", dir);
  fmt::print("  kept          {:>12} MB in {} objects, {} pieces\n", megabytes(total.data_bytes),
             total.objects, total.pieces);
  fmt::print("  on the disk   {:>12} MB in {} segments\n", megabytes(survey.disk_bytes),
             total.segments);
  fmt::print("  left behind   {:>12} MB by writers that died\n",
             megabytes(survey.left_behind_bytes));
  fmt::print("  free          {:>12} MB on the volume\n", megabytes(survey.free_bytes));
  fmt::print("  written now   {:>12}    segments\n", total.live);
  fmt::print("  wanted now    {:>12}    segments\n", total.wanted);
  return 0;
}

Result<int> verify(const Arguments& arguments, const std::stop_token& stop) {
  HEADRACE_TRY(const auto dir, directory(arguments));
  ProgressLine line;
  HEADRACE_TRY(const auto result,
               keep::verify(dir, arguments.purge, stop, [&line](const keep::Verification& now) {
                 if (line.enabled() && now.pieces % 256 == 0)
                   line.show(fmt::format("verified {} MB", now.bytes / 1'000'000));
               }));
  line.clear();
  const bool sound = result.damaged.empty();
  if (arguments.json) {
    ordered_json damaged = ordered_json::array();
    for (const auto& damage : result.damaged) {
      damaged.push_back({{"segment", damage.segment},
                         {"key", damage.key},
                         {"data_offset", damage.data_offset},
                         {"why", damage.why}});
    }
    fmt::print("{}\n", dump({{"schema", 1},
                             {"dir", dir},
                             {"pieces", result.pieces},
                             {"bytes", result.bytes},
                             {"damaged", damaged},
                             {"purged", result.purged}}));
    return sound ? 0 : 1;
  }
  for (const auto& damage : result.damaged) {
    fmt::print("damaged: {}.data @ {}: {}{}\n", damage.segment, damage.data_offset, damage.why,
               damage.key.empty() ? "" : " (" + printable(damage.key) + ")");
  }
  for (const auto& segment : result.purged) fmt::print("removed: {}\n", segment);
  fmt::print("{} pieces, {} MB: {} damaged\n", result.pieces, megabytes(result.bytes),
             result.damaged.size());
  return sound ? 0 : 1;
}

Result<int> purge(const Arguments& arguments, const std::stop_token& stop) {
  HEADRACE_TRY(const auto dir, directory(arguments));
  HEADRACE_TRY(check_store(dir, arguments.store, stop));
  HEADRACE_TRY(const auto result, keep::purge(dir, arguments.store, stop));
  if (arguments.json) {
    fmt::print("{}\n", dump({{"schema", 1},
                             {"dir", dir},
                             {"segments", result.segments},
                             {"bytes", result.bytes},
                             {"in_use", result.in_use}}));
  } else {
    fmt::print("removed {} segments, {} MB\n", result.segments, megabytes(result.bytes));
    if (result.in_use > 0) fmt::print("left {} segments that live jobs use\n", result.in_use);
  }
  return result.in_use == 0 ? 0 : 1;
}

}  // namespace

void add_keep(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("keep", "Look into the node cache, fill it, verify it, empty it");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* examples, auto run) {
    CLI::App* sub = command->add_subcommand(name, what);
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("--keep-dir", arguments->dir,
                    "Cache directory; else $HEADRACE_KEEP_DIR, else ~/.cache/headrace");
    sub->add_flag("--json", arguments->json, "One JSON object on stdout");
    sub->footer(examples);
    sub->callback([&invocation, arguments, run] {
      invocation.run = [arguments, run](const std::stop_token& stop) {
        return run(*arguments, stop);
      };
    });
    return std::pair(sub, arguments);
  };
  const char* store_help = "Only what is kept of this store, as list names it";

  const auto listing = add("list", "What is kept, by store",
                           "Examples:\n"
                           "  headrace keep list\n"
                           "  headrace keep list --keys --store s3://bucket/train",
                           list);
  listing.first->add_flag("--keys", listing.second->keys, "Every piece with its key");
  listing.first->add_option("--store", listing.second->store, store_help);

  add("stat", "How much is kept, and who uses it",
      "Example:\n"
      "  headrace keep stat --keep-dir /nvme/headrace --json",
      stat);

  const auto verification =
      add("verify", "Read everything and compare it with its hash",
          "Examples:\n"
          "  headrace keep verify\n"
          "  headrace keep verify --purge\n"
          "Exit code 1 if anything is damaged. Jobs verify what they read in any case: damage is\n"
          "read again from the origin.",
          verify);
  verification.first->add_flag("--purge", verification.second->purge,
                               "Remove segments with damage, unless a live job uses them");

  const auto emptying = add("purge", "Remove what is kept, except what live jobs use",
                            "Examples:\n"
                            "  headrace keep purge\n"
                            "  headrace keep purge --store s3://bucket/old\n"
                            "Exit code 1 if something was left because a live job uses it.",
                            purge);
  emptying.first->add_option("--store", emptying.second->store, store_help);

  add_keep_warm(*command, invocation);

  command->footer("Example:\n  headrace keep stat\nEach subcommand has its own --help.");
}

}  // namespace headrace::app
