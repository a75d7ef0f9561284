// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "command.h"
#include "headrace/base/mutex.h"
#include "headrace/base/printable.h"
#include "headrace/base/shared_metrics.h"
#include "headrace/consumers/mount/mount.h"
#include "headrace/consumers/mount/mount_point.h"
#include "headrace/job/media_file.h"
#include "mount_stores.h"
#include "notice_line.h"
#include "progress_line.h"
#include "source_options.h"

namespace headrace::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  headrace mount s3://bucket/train /mnt/train              (until Ctrl-C, or fusermount3 -u)
  headrace mount s3://bucket/train /mnt/train --keep &     (what was read once is read from disk)
  headrace mount train.rec /mnt/train --inside             (its pictures, as class folders)
  headrace mount --unmount /mnt/train                      (also what a killed mount left behind)

Read-only. Each folder is listed once, when somebody first looks into it, and every file stays the
version that was seen then; mount anew to see changes. "mounted" is printed when programs may
begin. --inside reads every record once before that, to learn the names, and with --keep only the
first time; names are those that convert --format folder would write. What programs see, errors
too, is in src/consumers/mount/MOUNT.md.)";

struct Arguments {
  MountSource source;
  std::string folder;
  bool unmount = false;
  mount::MountOptions mount;
  uid_t uid = ::getuid();
  gid_t gid = ::getgid();
  std::string umask = "0";
  bool json = false;
  bool for_job = false;  // hidden: a job's child (src/job/mount_process.h)
  int counts_fd = -1;
};

/// Each kind of trouble once, with its cause: programs show no more than "Input/output error".
class Troubles {
 public:
  void show(int error_number, const Error& error) {
    {
      const MutexLock lock(mutex_);
      if (!seen_.insert(std::string(to_string(error.code()))).second) return;
    }
    fmt::print(stderr, "headrace: {}: {} (programs see \"{}\"; further ones are only counted)\n",
               to_string(error.code()), printable(error.to_string()), std::strerror(error_number));
  }

 private:
  Mutex mutex_;
  std::set<std::string> seen_ HEADRACE_GUARDED_BY(mutex_);
};

void say_mounted(const Arguments& arguments, const std::string& what) {
  if (arguments.json) {
    const nlohmann::ordered_json json{
        {"schema", 1}, {"event", "mounted"}, {"store", what}, {"folder", arguments.folder}};
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("mounted {} at {}\n", what, arguments.folder);
  }
  std::ignore = std::fflush(stdout);
}

void say_ended(const Arguments& arguments, const mount::MountStats& stats, const Metrics& metrics) {
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", 1},
                                      {"event", "unmounted"},
                                      {"lookups", stats.lookups},
                                      {"lists", stats.lists},
                                      {"reads", stats.reads},
                                      {"bytes", stats.bytes},
                                      {"hits", stats.hits},
                                      {"fetched_ahead", stats.fetched_ahead},
                                      {"dropped", stats.dropped},
                                      {"errors", stats.errors},
                                      {"nodes", stats.nodes},
                                      {"peak_bytes", stats.peak_bytes},
                                      {"requests", metrics.get(Metric::requests)},
                                      {"requests_list", metrics.get(Metric::requests_list)},
                                      {"bytes_origin", metrics.get(Metric::bytes_origin)},
                                      {"bytes_cache", metrics.get(Metric::bytes_cache)},
                                      {"retries", metrics.get(Metric::retries)}};
    fmt::print("{}\n", json.dump());
    return;
  }
  const double hits =
      stats.reads == 0 ? 0.0
                       : 100.0 * static_cast<double>(stats.hits) / static_cast<double>(stats.reads);
  fmt::print(
      "unmounted: {} in {} reads, {:.0f} % of them there when they came; {} from the origin "
      "in {} requests; {} errors\n",
      human_bytes(static_cast<double>(stats.bytes)), stats.reads, hits,
      human_bytes(static_cast<double>(metrics.get(Metric::bytes_origin))),
      metrics.get(Metric::requests), stats.errors);
}

/// Ends with the standard input, whatever its writer dies of; and with `outer`.
class InputEnd {
 public:
  explicit InputEnd(const std::stop_token& outer)
      : forward_(outer, [this] { source_.request_stop(); }), thread_([this](auto stop) {
          pollfd input{.fd = STDIN_FILENO, .events = POLLIN};
          std::array<char, 64> ignored{};
          while (!stop.stop_requested()) {
            if (::poll(&input, 1, 200) <= 0) continue;
            if (::read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0) break;
          }
          source_.request_stop();
        }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::jthread thread_;
};

Result<int> run(const Arguments& arguments, const std::stop_token& outer) {
  Context context;
  if (arguments.counts_fd >= 0) {
    HEADRACE_TRY(context.metrics, SharedMetrics::attach(arguments.counts_fd));
  }
  std::optional<InputEnd> input;
  if (arguments.for_job) input.emplace(outer);
  const std::stop_token stop = input ? input->token() : outer;
  HEADRACE_TRY(const Uri uri, parse_uri(arguments.source.uri));
  HEADRACE_TRY(const MountStores stores, MountStores::open(arguments.source, uri, context, stop));
  Store& store = stores.top();
  mount::MountOptions options = arguments.mount;
  options.uid = arguments.uid;
  options.gid = arguments.gid;
  options.umask = static_cast<mode_t>(std::stoul(arguments.umask, nullptr, 8));
  Troubles troubles;
  options.on_error = [&troubles](int number, const Error& error) { troubles.show(number, error); };
  options.on_ready = [&] { say_mounted(arguments, store.describe()); };
  HEADRACE_TRY(auto mounted,
               mount::Mount::make(store, uri, arguments.folder, options, context, stop));
  HEADRACE_TRY(mounted->serve(stop));
  const mount::MountStats stats = mounted->stats();
  mounted.reset();  // unmounted before it says so
  for (const Notice& notice : context.notices->all()) {
    fmt::print(stderr, "headrace: {}\n", notice_line(notice));
  }
  if (arguments.for_job) {
    ::rmdir(arguments.folder.c_str());  // its owner may be dead; if not, it removes it, too
    return 0;
  }
  say_ended(arguments, stats, *context.metrics);
  return 0;
}

}  // namespace

void add_mount(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("mount", "Show a store as a read-only folder of this machine (FUSE)");
  auto arguments = std::make_shared<Arguments>();
  auto* uri = command->add_option("uri", arguments->source.uri,
                                  "What to show: s3://bucket/prefix or a path");
  command->add_option("folder", arguments->folder, "Where: an empty folder");
  command->add_flag("--unmount", arguments->unmount, "Free the folder (the one argument) again");
  command->add_flag(
      "--keep", arguments->source.keep,
      "Keep what was read in the node cache ($HEADRACE_KEEP_DIR or ~/.cache/headrace)");
  command->add_option("--keep-dir", arguments->source.keep_dir, "The same, in this folder");
  command
      ->add_option("--keep-size,--keep-bytes", arguments->source.keep_bytes,
                   "The cache's limit, such as 50G")
      ->transform(CLI::AsSizeValue(false));
  command->add_flag("--inside", arguments->source.inside,
                    "Show the pictures in the set's containers (.rec, tar, TFRecord, …), in class "
                    "folders, not its files");
  const std::vector<CLI::Option*> before = command->get_options();
  command
      ->add_option("--on-bad", arguments->source.on_bad,
                   "Of --inside: a sample that cannot be read: error, or skip it")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  add_source_options(*command, arguments->source.open);
  std::vector<CLI::Option*> of_inside = command->get_options();
  of_inside.erase(of_inside.begin(), of_inside.begin() + std::ssize(before));
  command->add_option("--medium", arguments->source.medium,
                      "Be as slow as a medium of data/media.yaml");
  command
      ->add_option("--budget", arguments->mount.reader.budget_bytes,
                   "Memory for data on its way, such as 256M")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->mount.threads, "Requests of programs answered at once")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  command->add_option("--uid", arguments->uid, "The owner of all files (default: you)");
  command->add_option("--gid", arguments->gid, "Their group (default: yours)");
  command->add_option("--umask", arguments->umask, "Taken from modes 0444 and 0555, octal")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const bool octal = !text.empty() && text.size() <= 4 &&
                               text.find_first_not_of("01234567") == std::string::npos;
            return octal ? std::string() : "not an octal number: " + text;
          },
          "OCTAL"))
      ->capture_default_str();
  command->add_flag("--allow-other", arguments->mount.allow_other,
                    "Let other users in (not root: needs user_allow_other in /etc/fuse.conf)");
  command->add_flag("--json", arguments->json, "JSON lines on stdout: mounted, then the counts");
  command->add_flag("--for-job", arguments->for_job)->group("");
  command->add_option("--counts-fd", arguments->counts_fd)->group("");
  command->add_option("--scale", arguments->source.scale)->group("");
  command->footer(kExamples);
  uri->required();
  command->callback([&invocation, arguments, of_inside = std::move(of_inside)] {
    if (arguments->unmount != arguments->folder.empty()) {
      throw CLI::ValidationError("folder", arguments->unmount ? "--unmount takes the folder alone"
                                                              : "say where: URI FOLDER");
    }
    const MountSource& source = arguments->source;
    for (const CLI::Option* option : of_inside) {
      if (option->count() == 0 || source.inside) continue;
      throw CLI::ValidationError(option->get_name(),
                                 "belongs to --inside: without it files are shown as they are");
    }
    if (!source.medium.empty()) {
      if (const auto known = medium_for(source.medium, source.scale); !known)
        throw CLI::ValidationError("--medium", known.error().to_string());
    }
    invocation.run = [arguments](const std::stop_token& stop) -> Result<int> {
      if (!arguments->unmount) return run(*arguments, stop);
      HEADRACE_TRY(mount::unmount(arguments->source.uri));
      return 0;
    };
  });
}

}  // namespace headrace::app
