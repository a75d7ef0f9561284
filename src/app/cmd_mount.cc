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

#include "command.h"
#include "headrace/base/mutex.h"
#include "headrace/base/shared_metrics.h"
#include "headrace/consumers/mount/mount.h"
#include "headrace/consumers/mount/mount_point.h"
#include "headrace/job/media_file.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/open_store.h"
#include "headrace/storage/shaped/shaped_store.h"
#include "progress_line.h"

namespace headrace::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  headrace mount s3://bucket/train /mnt/train              (until Ctrl-C, or fusermount3 -u)
  headrace mount s3://bucket/train /mnt/train --keep &     (what was read once is read from disk)
  headrace mount --unmount /mnt/train                      (also what a killed mount left behind)

Read-only. Each folder is listed once, when somebody first looks into it, and every file stays the
version that was seen then; mount anew to see changes. "mounted" is printed when programs may
begin. What programs see, errors too, is in src/consumers/mount/MOUNT.md.)";

struct Arguments {
  std::string uri;
  std::string folder;
  bool unmount = false;
  bool keep = false;
  std::string keep_dir;
  std::uint64_t keep_bytes = 0;
  std::string medium;
  mount::MountOptions mount;
  uid_t uid = ::getuid();
  gid_t gid = ::getgid();
  std::string umask = "0";
  bool json = false;
  bool for_job = false;  // hidden: a job's child (src/job/mount_process.h)
  int counts_fd = -1;
  double scale = 1;
};

/// The stores under the mount, each on those before it.
struct Stores {
  std::vector<std::unique_ptr<Store>> all;

  Stores() = default;
  Stores(Stores&&) = default;
  Stores& operator=(Stores&&) = delete;
  Stores(const Stores&) = delete;
  Stores& operator=(const Stores&) = delete;
  ~Stores() {
    while (!all.empty()) all.pop_back();
  }
};

Result<Stores> open_stores(const Arguments& arguments, const Uri& uri, const Context& context,
                           const std::stop_token& stop) {
  Stores stores;
  HEADRACE_TRY(auto origin, open_store(uri, context, {.stop = stop}));
  stores.all.push_back(std::move(origin));
  if (!arguments.medium.empty()) {
    HEADRACE_TRY(const auto media, load_media());
    HEADRACE_TRY(const auto* const entry, media.find(arguments.medium));
    stores.all.push_back(make_shaped_store(*stores.all.back(),
                                           scaled(entry->medium, 1 / arguments.scale), context, 0));
  }
  if (arguments.keep || !arguments.keep_dir.empty()) {
    std::string folder = arguments.keep_dir;
    if (folder.empty()) {
      HEADRACE_TRY(folder, default_keep_dir());
    }
    HEADRACE_TRY(auto cache,
                 make_keep_store(*stores.all.back(),
                                 {.dir = folder, .limit_bytes = arguments.keep_bytes}, context));
    stores.all.push_back(std::move(cache));
  }
  return stores;
}

/// Each kind of trouble once, with its cause: programs show no more than "Input/output error".
class Troubles {
 public:
  void show(int error_number, const Error& error) {
    {
      const MutexLock lock(mutex_);
      if (!seen_.insert(std::string(to_string(error.code()))).second) return;
    }
    fmt::print(stderr, "headrace: {}: {} (programs see \"{}\"; further ones are only counted)\n",
               to_string(error.code()), error.to_string(), std::strerror(error_number));
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
  std::fflush(stdout);
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
  HEADRACE_TRY(const Uri uri, parse_uri(arguments.uri));
  HEADRACE_TRY(const Stores stores, open_stores(arguments, uri, context, stop));
  Store& store = *stores.all.back();
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
    fmt::print(stderr, "headrace: {} ({} times)\n", notice.text, notice.count);
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
  auto* uri =
      command->add_option("uri", arguments->uri, "What to show: s3://bucket/prefix or a path");
  command->add_option("folder", arguments->folder, "Where: an empty folder");
  command->add_flag("--unmount", arguments->unmount, "Free the folder (the one argument) again");
  command->add_flag(
      "--keep", arguments->keep,
      "Keep what was read in the node cache ($HEADRACE_KEEP_DIR or ~/.cache/headrace)");
  command->add_option("--keep-dir", arguments->keep_dir, "The same, in this folder");
  command
      ->add_option("--keep-size,--keep-bytes", arguments->keep_bytes,
                   "The cache's limit, such as 50G")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--medium", arguments->medium, "Be as slow as a medium of data/media.yaml");
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
  command->add_option("--scale", arguments->scale)->group("");
  command->footer(kExamples);
  uri->required();
  command->callback([&invocation, arguments] {
    if (arguments->unmount != arguments->folder.empty()) {
      throw CLI::ValidationError("folder", arguments->unmount ? "--unmount takes the folder alone"
                                                              : "say where: URI FOLDER");
    }
    invocation.run = [arguments](const std::stop_token& stop) -> Result<int> {
      if (!arguments->unmount) return run(*arguments, stop);
      HEADRACE_TRY(mount::unmount(arguments->uri));
      return 0;
    };
  });
}

}  // namespace headrace::app
