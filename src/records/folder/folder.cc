// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/records/classes.h"
#include "headrace/records/list_index.h"
#include "headrace/records/listing.h"
#include "headrace/records/object_index.h"
#include "headrace/records/snapshot/keeping.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

class Folder final : public Dataset {
 public:
  Folder(ObjectIndex objects, std::vector<std::string> classes, std::vector<std::uint64_t> starts,
         std::vector<std::uint32_t> labels, const Hash128& fingerprint)
      : objects_(std::move(objects)),
        classes_(std::move(classes)),
        starts_(std::move(starts)),
        labels_(std::move(labels)),
        fingerprint_(fingerprint) {
    fingerprint_ += hash_bytes(as_byte_span(classes_to_text(classes_)));
  }

  std::string format() const override { return "folder"; }
  std::uint64_t size() const override { return objects_.size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return objects_.bytes(ordinal(id)); }
  Extent locate(SampleId id) const override { return objects_.extent(ordinal(id)); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    return Sample{.labels = {number(id)}, .payload = frame};
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const override {
    RawRecord record;
    record.content = frame;
    record.key = name(id);
    record.labels = {number(id)};
    return record;
  }
  std::string file(SampleId id, const Bytes& /*frame*/) const override { return name(id); }
  std::optional<float> label(SampleId id) const override { return number(id); }
  std::string name(SampleId id) const override { return objects_.key(ordinal(id)); }
  const std::vector<std::string>& classes() const override { return classes_; }
  Hash128 fingerprint() const override { return fingerprint_; }

 private:
  float number(SampleId id) const {
    const auto after = std::ranges::upper_bound(starts_, ordinal(id));
    return static_cast<float>(labels_[static_cast<std::size_t>(after - starts_.begin()) - 1]);
  }
  static std::uint64_t ordinal(SampleId id) { return static_cast<std::uint64_t>(id); }

  const ObjectIndex objects_;
  const std::vector<std::string> classes_;
  // In key order a folder's samples are neighbours; folders come as "a-b/" < "a/", though class
  // "a" < "a-b". So the folder finds the label, not the other way round.
  const std::vector<std::uint64_t> starts_;  // first ordinal of each folder, in key order
  const std::vector<std::uint32_t> labels_;  // of each folder, in key order
  Hash128 fingerprint_;
};

/// What the listing threads fill together.
class Collector {
 public:
  Collector(std::string store, ObjectIndexBuilder index)
      : store_(std::move(store)), index_(std::move(index)) {}

  Result<void> add(std::span<const ObjectInfo> objects) {
    const MutexLock lock(mutex_);
    for (const ObjectInfo& object : objects) {
      if (!is_sample_key(object.key)) {
        skip(object.key);
        continue;
      }
      if (object.archived) {
        return Error(Code::invalid, "the object is archived and cannot be read",
                     "restore it first, or leave it out of the set")
            .at(object_place(store_, object.key));
      }
      HEADRACE_TRY(index_.add(object));
    }
    return {};
  }
  void skip(const std::string& key) HEADRACE_REQUIRES(mutex_) {
    if (skipped_++ == 0 || key < first_skipped_) first_skipped_ = key;
  }

  /// The sorted index; leaves the notices. Only once, when no thread adds any more.
  Result<ObjectIndex> take(Notices& notices, std::uint64_t& skipped) {
    const MutexLock lock(mutex_);
    if (skipped_ != 0) {
      notices.add("not-a-sample", fmt::format("{} hidden or system files left out, such as \"{}\"",
                                              skipped_, first_skipped_));
    }
    skipped = skipped_;
    HEADRACE_TRY(ObjectIndex objects, index_.finish());
    if (const auto dropped = index_.dropped(); dropped != 0) {
      notices.add("listed-twice", fmt::format("the server listed {} keys more than once", dropped));
    }
    return objects;
  }

 private:
  const std::string store_;
  Mutex mutex_;
  ObjectIndexBuilder index_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t skipped_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::string first_skipped_ HEADRACE_GUARDED_BY(mutex_);
};

/// The file that stops the job is often the whole of what was named.
std::string remedy_for(std::string_view file) {
  if (file.ends_with(".lst") || file.ends_with(".csv") || file.ends_with(".manifest")) {
    return "a list of samples goes with the folder that it lists: FOLDER --list FILE";
  }
  if (file.ends_with(".idx")) return "an index goes with its container: name the .rec";
  return "move it into a class folder, leave out such files with --root-files-skip, or give the "
         "labels as a list by --list; one picture alone is looked at by headrace inspect --decode";
}

/// Files in the root: an error that names one, or counted.
struct RootFiles {
  std::string store;
  bool skip = false;
  std::uint64_t count = 0;
  std::uint64_t hidden = 0;
  std::string first;

  Result<void> add(std::span<const ObjectInfo> objects) {
    for (const ObjectInfo& object : objects) {
      if (!is_sample_key(object.key)) {
        ++hidden;
        continue;
      }
      if (count++ == 0 || object.key < first) first = object.key;
    }
    if (count == 0 || skip) return {};
    return Error(Code::invalid, "a file in the root belongs to no class", remedy_for(first))
        .at(object_place(store, first));
  }
};

std::string class_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

}  // namespace

bool is_sample_key(std::string_view key) {
  if (key.starts_with('.') || key.find("/.") != std::string_view::npos) return false;
  const std::string_view base = key.substr(key.rfind('/') + 1);
  return base != "Thumbs.db" && base != "desktop.ini";
}

namespace {

/// What the set is made of.
struct Found {
  ObjectIndex objects;
  Hash128 fingerprint;               ///< of the objects
  std::vector<std::string> folders;  ///< below the root, in key order; some may hold no sample
};

Result<Found> list(Store& store, const Context& context, const OpenOptions& options) {
  RootFiles root{.store = store.describe(), .skip = options.skip_root_files};
  HEADRACE_TRY(auto folders,
               find_folders(store, "", options.stop,
                            [&root](std::span<const ObjectInfo> page) { return root.add(page); }));
  std::erase(folders, ".headrace/");  // what `fetch` keeps beside its copy: ours, no news to anyone
  if (std::ranges::find(folders, "/") != folders.end()) {
    return Error(Code::invalid, "keys that begin with '/' belong to a class without a name")
        .at(store.describe());
  }

  HEADRACE_TRY(auto index, ObjectIndexBuilder::make());
  Collector collector(store.describe(), std::move(index));
  HEADRACE_TRY(list_folders(store, folders, kListers, options.stop,
                            [&](std::span<const ObjectInfo> page) -> Result<void> {
                              if (options.scanning != nullptr)
                                options.scanning->listed += page.size();
                              return collector.add(page);
                            }));
  if (options.scanning != nullptr) options.scanning->listed = 0;

  std::uint64_t skipped = 0;
  HEADRACE_TRY(ObjectIndex objects, collector.take(*context.notices, skipped));
  if (root.count != 0) {
    context.notices->add("root-files", fmt::format("{} files in the root left out, such as \"{}\"",
                                                   root.count, root.first));
  }
  if (objects.size() == 0) {
    return Error(Code::not_found,
                 fmt::format("no samples under {}, {} other keys seen", store.describe(),
                             skipped + root.count + root.hidden),
                 "check the path or prefix: labelled folders lie directly below it");
  }
  const Hash128 fingerprint = objects.fingerprint();
  return Found{std::move(objects), fingerprint, std::move(folders)};
}

/// As it lies mapped: nothing here takes longer for more samples, only for more folders.
Result<Found> of_snapshot(const Snapshot& snapshot, const std::stop_token& stop) {
  std::vector<std::string> folders;
  HEADRACE_TRY(list_index(snapshot.objects(), {.by_folder = true}, stop,
                          [&folders](ListPage&& page) -> Result<bool> {
                            std::ranges::move(page.folders, std::back_inserter(folders));
                            return true;
                          }));
  return Found{snapshot.objects(), snapshot.fingerprint(), std::move(folders)};
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_folder(Store& store, const Context& context,
                                             const OpenOptions& options) {
  const auto snapshot = snapshot_of(store);
  auto listed = snapshot != nullptr && snapshot->plain() ? of_snapshot(*snapshot, options.stop)
                                                         : list(store, context, options);
  HEADRACE_TRY(auto found, std::move(listed));
  const ObjectIndex& objects = found.objects;

  // `folders` is in key order. A folder without samples is no class: S3 would not even list it.
  std::vector<std::uint64_t> starts;
  std::vector<std::string> names;
  for (const std::string& folder : found.folders) {
    const std::uint64_t start = objects.lower_bound(folder);
    if (start == objects.size() || !objects.key(start).starts_with(folder)) {
      context.notices->add("empty-class", fmt::format("folder \"{}\" holds no sample", folder));
      continue;
    }
    starts.push_back(start);
    names.push_back(class_of(folder));
  }
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  auto classes = settle_classes(std::move(sorted), options.classes, *context.notices);
  if (!classes) return std::move(classes).error().at(store.describe());
  std::map<std::string_view, std::uint32_t> numbers;
  for (const std::string& name : *classes) {
    numbers.emplace(name, static_cast<std::uint32_t>(numbers.size()));
  }
  std::vector<std::uint32_t> labels;
  labels.reserve(names.size());
  for (const std::string& name : names) labels.push_back(numbers.at(name));
  return std::make_unique<Folder>(std::move(found.objects), *std::move(classes), std::move(starts),
                                  std::move(labels), found.fingerprint);
}

}  // namespace headrace
