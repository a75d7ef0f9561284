// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/compose.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/base/cache_folder.h"
#include "headrace/base/digest.h"
#include "headrace/base/shared_metrics.h"
#include "headrace/base/uri.h"
#include "headrace/consumers/pipe/pipe_feed.h"
#include "headrace/consumers/pipe/pipe_writer.h"
#include "headrace/job/fetch/fetch.h"
#include "headrace/job/media_file.h"
#include "headrace/records/class_file.h"
#include "headrace/records/joined/joined.h"
#include "headrace/records/listing.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/local/dir_side_store.h"
#include "headrace/storage/local/standing.h"
#include "headrace/storage/open_store.h"

namespace headrace {
namespace {

constexpr unsigned kMountReads = 64;
/// The indexes of large containers, in the user's cache folder.
class IndexFolder final : public SideStore {
 public:
  explicit IndexFolder(const std::string& folder) : below_(make_dir_side_store(folder)) {}

  Result<std::optional<Bytes>> get(const SideKey& key) override { return below_->get(key); }
  Result<void> put(const SideKey& key, ByteSpan bytes) override {
    if (key.pin.size < kLarge) return {};
    return below_->put(key, bytes);
  }

 private:
  static constexpr std::uint64_t kLarge = 16U << 20U;  // to scan less takes milliseconds

  const std::unique_ptr<SideStore> below_;
};

/// Where the copy of one of several sets lies: by its name, and told from others of that name.
std::string folder_of_copy(std::string_view uri) {
  const std::string hash = hash_bytes(as_byte_span(uri)).to_hex().substr(0, 8);
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return fmt::format("{}-{}", uri.substr(uri.rfind('/') + 1), hash);
}

/// Builds one job's stores, from the origin upwards.
class Composer {
 public:
  /// `counts`: descriptor that mounts share their counters by, in mode fastfile.
  Composer(const JobOptions& options, const Context& context, int counts,
           const std::stop_token& stop)
      : options_(options), context_(context), counts_(counts), stop_(stop) {}

  Result<Composition> run() && {
    made_.mode = options_.mode.value_or(default_mode(options_.uri));
    if (!options_.seek_dir.empty()) {
      made_.seek_folder = make_dir_side_store(options_.seek_dir);
      made_.side_store = made_.seek_folder.get();
    }
    switch (made_.mode) {
      case Mode::direct:
        HEADRACE_TRY(direct());
        break;
      case Mode::file:
        HEADRACE_TRY(file());
        break;
      case Mode::stream:
        HEADRACE_TRY(stream());
        break;
      case Mode::keep:
        HEADRACE_TRY(keep());
        break;
      case Mode::fastfile:
        HEADRACE_TRY(fastfile());
        break;
      case Mode::pipe:
        HEADRACE_TRY(pipe());
        break;
    }
    return std::move(made_);
  }

 private:
  Store& top() { return *made_.stores.back(); }

  /// The place that the mode reads first; `--medium` makes it as slow as that medium.
  Result<void> open_origin(const std::string& place) {
    HEADRACE_TRY(const Uri uri, parse_uri(place));
    HEADRACE_TRY(stand_on(uri));
    HEADRACE_TRY(auto store, open_store(uri, context_, {.stop = stop_}));
    made_.place = store->describe();
    made_.stores.push_back(std::move(store));
    if (!options_.medium.empty()) {
      HEADRACE_TRY(auto slow, shaped_as(options_.medium, options_.scale, top(), context_,
                                        options_.loader.seed));
      made_.stores.push_back(std::move(slow));
    }
    HEADRACE_TRY(auto snapshot, keep_snapshot(top(), options_.snapshot, context_, stop_));
    if (snapshot != nullptr)
      made_.stores.push_back(make_snapshot_store(top(), std::move(snapshot)));
    return {};
  }

  Result<void> stand_on(const Uri& uri) {
    if (uri.scheme == Scheme::local) {
      const auto found = options_.expect.empty() ? local::standing_of(uri.path)
                                                 : local::check_standing(uri.path, options_.expect);
      if (found) made_.stands_on = found->to_string();
      return found || options_.expect.empty() ? Result<void>() : found.error();
    }
    if (options_.expect.empty()) return {};
    return Error(Code::invalid, "--expect is about a path, and this is none", "leave it out")
        .at(uri.to_string());
  }

  /// `copy_of`: what a manifest calls the root of which this is a copy.
  Result<void> number_samples(Store& store, SideStore* side_store = nullptr,
                              const std::string& copy_of = {}) {
    OpenOptions open = options_.open;
    if (open.list_root.empty()) open.list_root = copy_of;
    if (open.list.empty()) open.list = manifest_;
    if (side_store != nullptr) {
      open.side_store = side_store;
    } else if (open.side_store == nullptr) {
      open.side_store = folder_of_indexes();
    }
    open.stop = stop_;
    HEADRACE_TRY(made_.dataset, open_dataset(store, context_, open));
    return {};
  }

  /// Null if there is no place for it.
  SideStore* folder_of_indexes() {
    if (made_.index_folder || options_.index_dir == "none") return made_.index_folder.get();
    const std::string folder = options_.index_dir.empty()
                                   ? cache_folder("HEADRACE_INDEX_DIR", "headrace-index")
                                   : options_.index_dir;
    if (!folder.empty()) made_.index_folder = std::make_unique<IndexFolder>(folder);
    return made_.index_folder.get();
  }

  Result<void> direct() {
    const std::string& place = options_.local.empty() ? options_.uri : options_.local;
    HEADRACE_TRY(const Uri uri, parse_uri(place));
    if (uri.scheme == Scheme::s3) {
      return Error(Code::invalid, "mode direct reads a folder of this machine",
                   "give --local PATH, a copy of the data, or use mode stream, keep or file")
          .at(place);
    }
    HEADRACE_TRY(open_origin(place));
    HEADRACE_TRY(number_samples(top(), nullptr, options_.local.empty() ? "" : options_.uri));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  Result<void> stream() {
    HEADRACE_TRY(open_origin(options_.uri));
    HEADRACE_TRY(number_samples(top()));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  /// The objects of a manifest, which the copy is then read by.
  Result<std::vector<std::string>> named_by(const std::string& manifest) {
    HEADRACE_TRY(number_samples(top()));
    manifest_ = manifest;
    const auto set = std::move(made_.dataset);
    std::vector<std::string> keys;
    for (std::uint64_t id = 0; id < set->size(); ++id) {
      std::string key = set->locate(SampleId{id}).key;
      if (keys.empty() || keys.back() != key) keys.push_back(std::move(key));
    }
    return keys;
  }

  /// What belongs to the only object of the source, but is not in its listing.
  Result<std::vector<std::string>> beside() {
    std::vector<std::string> keys;
    HEADRACE_TRY(const auto folders,
                 find_folders(top(), "", stop_, [&keys](std::span<const ObjectInfo> page) {
                   for (const ObjectInfo& object : page) keys.push_back(object.key);
                   return Result<void>();
                 }));
    if (!folders.empty() || keys.size() != 1) return std::vector<std::string>();
    if (keys.front().ends_with(".manifest")) return named_by(keys.front());
    return std::vector<std::string>{recordio::idx_key(keys.front()), class_file_key(keys.front())};
  }

  /// Reads of the copy are not counted: the origin is where it was fetched from.
  Result<void> file() {
    HEADRACE_TRY(open_origin(options_.uri));
    std::string folder = options_.local;
    if (folder.empty()) {
      HEADRACE_TRY(made_.folder, PrivateFolder::make("file"));
      folder = made_.folder->path();
    }
    FetchOptions how{.progress = options_.on_fetch};
    HEADRACE_TRY(how.also, beside());
    const std::string copy_of = top().describe();
    HEADRACE_TRY(fetch(top(), folder, how, stop_));
    Context uncounted = context_;
    uncounted.metrics = std::make_shared<Metrics>();
    HEADRACE_TRY(auto copy, open_store({Scheme::local, "", folder}, uncounted, {.stop = stop_}));
    made_.stores.push_back(std::move(copy));
    HEADRACE_TRY(number_samples(top(), nullptr, copy_of));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  Result<void> keep() {
    HEADRACE_TRY(open_origin(options_.uri));
    Store& origin = top();
    std::string folder = options_.keep_dir;
    if (folder.empty()) {
      HEADRACE_TRY(folder, default_keep_dir());
    }
    KeepOptions how{.dir = folder, .limit_bytes = options_.keep_bytes, .stop = stop_};
    if (!options_.keep_medium.empty()) {
      HEADRACE_TRY(how.medium, medium_for(options_.keep_medium, options_.scale));
    }
    HEADRACE_TRY(auto cache, make_keep_store(origin, how, context_));
    // Over the origin: what an index is made from is not worth keeping twice; the index is.
    HEADRACE_TRY(number_samples(origin, cache.get()));
    made_.cache = cache.get();
    if (!made_.seek_folder) made_.side_store = made_.cache;
    made_.stores.push_back(std::move(cache));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  /// A container's own folder is mounted, so that its index and classes are seen beside it.
  Result<std::pair<std::string, std::string>> mounted_part() {
    HEADRACE_TRY(const Uri uri, parse_uri(options_.uri));
    HEADRACE_TRY(const auto store, open_store(uri, context_, {.stop = stop_}));
    ListPage first;
    const auto keep_page = [&first](ListPage&& page) -> Result<bool> {
      first = std::move(page);
      return false;
    };
    HEADRACE_TRY(store->list({.by_folder = true}, stop_, keep_page));
    const bool one = first.objects.size() == 1 && first.folders.empty();
    if (one && uri.path.ends_with(first.objects.front().key)) {
      HEADRACE_TRY(const auto split, split_object(uri));
      if (split.second == first.objects.front().key) {
        return std::pair(split.first.to_string(), "/" + split.second);
      }
    }
    return std::pair(options_.uri, std::string());
  }

  /// The mount counts what it asks of the origin; reads of its files are not counted again.
  Result<void> fastfile() {
    if (const std::string why = why_not_here(Mode::fastfile); !why.empty()) {
      return Error(Code::denied, "mode fastfile cannot mount: " + why).at(options_.uri);
    }
    HEADRACE_TRY(const auto part, mounted_part());
    HEADRACE_TRY(made_.folder, PrivateFolder::make("fastfile"));
    const std::string& folder = made_.folder->path();
    HEADRACE_TRY(made_.mount, MountProcess::start({.uri = part.first,
                                                   .folder = folder,
                                                   .medium = options_.medium,
                                                   .scale = options_.scale,
                                                   .counts = counts_},
                                                  stop_));
    Context uncounted = context_;
    uncounted.metrics = std::make_shared<Metrics>();
    // Many reads wait for the origin at once, as many as the mount answers.
    const StoreOptions many{.local_threads = kMountReads, .stop = stop_};
    HEADRACE_TRY(auto files,
                 open_store({Scheme::local, "", folder + part.second}, uncounted, many));
    made_.stores.push_back(std::move(files));
    HEADRACE_TRY(number_samples(top()));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  /// The order of the stream is the loader's, from where it resumes.
  pipe::WriterOptions writer_options(const std::string& folder) const {
    const LoaderOptions& loader = options_.loader;
    pipe::WriterOptions writer{.dir = folder,
                               .channel = options_.pipe_channel,
                               .order = pipe::StreamOrder::global,
                               .first_epoch = loader.first_epoch,
                               .epochs = loader.epochs,
                               .seed = loader.seed,
                               .shuffle = loader.shuffle,
                               .plan = {.batch = loader.batch,
                                        .rank = loader.rank,
                                        .world = loader.world,
                                        .tail = loader.tail},
                               .pairs = options_.pipe_pairs,
                               .requests = loader.max_requests};
    if (options_.resume) {
      writer.epochs -= std::min(options_.resume->epoch - loader.first_epoch, loader.epochs);
      writer.first_epoch = options_.resume->epoch;
      writer.first_position = options_.resume->position;
    }
    return writer;
  }

  Result<void> pipe() {
    HEADRACE_TRY(open_origin(options_.uri));
    HEADRACE_TRY(number_samples(top()));
    pipe::FeedOptions how{
        .dir = options_.pipe_dir, .channel = options_.pipe_channel, .pairs = options_.pipe_pairs};
    if (how.dir.empty()) {
      HEADRACE_TRY(made_.folder, PrivateFolder::make("pipe"));
      how.dir = made_.folder->path();
      const pipe::WriterOptions writer = writer_options(how.dir);
      HEADRACE_TRY(pipe::check_writable(*made_.dataset, writer).at(options_.uri));
      made_.pipe = std::make_unique<PipeServer>(top(), *made_.dataset, writer);
      how.why = [server = made_.pipe.get()] { return server->failure(); };
    } else {
      how.on_wait.tell = options_.on_wait;
      if (options_.pipe_wait > 0) {
        how.timeouts.appear = how.timeouts.data = pipe::Seconds(options_.pipe_wait);
      }
    }
    HEADRACE_TRY(made_.feed, pipe::make_pipe_feed(*made_.dataset, how));
    return {};
  }

  const JobOptions& options_;
  const Context& context_;
  const int counts_;
  const std::stop_token& stop_;
  std::string manifest_;  ///< key of the manifest that the only object of the source is
  Composition made_;
};

}  // namespace

Composition::~Composition() {
  feed.reset();  // before the writer, which then sees its reader go
  pipe.reset();
  dataset.reset();
  while (!stores.empty()) stores.pop_back();
  mount.reset();
}

Result<Composition> compose(const JobOptions& options, Context& context,
                            const std::stop_token& stop) {
  const bool mounts = options.mode.value_or(default_mode(options.uri)) == Mode::fastfile;
  std::optional<SharedMetrics> counts;
  if (mounts && why_not_here(Mode::fastfile).empty()) {
    HEADRACE_TRY(counts, SharedMetrics::make());
    context.metrics = counts->metrics();
  }
  const int fd = counts ? counts->fd() : -1;
  if (options.with.empty()) return Composer(options, context, fd, stop).run();
  Composition made;
  JobOptions one = options;
  one.with.clear();
  std::vector<SetToJoin> sets;
  std::vector<Feed*> feeds;
  std::vector<std::string> uris{options.uri};
  uris.insert(uris.end(), options.with.begin(), options.with.end());
  made.members.reserve(uris.size());
  for (const std::string& uri : uris) {
    one.uri = uri;
    if (!options.local.empty()) one.local = options.local + "/" + folder_of_copy(uri);
    HEADRACE_TRY(auto member, Composer(one, context, fd, stop).run().at(uri));
    made.place += made.members.empty() ? member.place : " + " + member.place;
    sets.push_back({member.dataset.get(), uri});
    feeds.push_back(member.feed.get());
    made.members.push_back(std::move(member));
  }
  const Composition& first = made.members.front();
  made.mode = first.mode;
  made.cache = first.cache;
  made.side_store = first.side_store;
  HEADRACE_TRY(made.dataset, join_sets(sets));
  made.feed = make_joined_feed(std::move(feeds), *made.dataset);
  return made;
}

}  // namespace headrace
