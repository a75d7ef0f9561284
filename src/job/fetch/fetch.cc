// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/fetch/fetch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "headrace/base/mutex.h"
#include "headrace/job/fetch/download.h"
#include "headrace/job/fetch/journal.h"
#include "headrace/job/fetch/names.h"
#include "headrace/records/listing.h"
#include "headrace/records/object_index.h"
#include "headrace/storage/local/volume.h"

namespace headrace {
namespace {

/// The index while several threads list into it.
struct Listing {
  explicit Listing(ObjectIndexBuilder empty) : index(std::move(empty)) {}

  Result<void> add(std::span<const ObjectInfo> page, const std::string& store) {
    const MutexLock lock(mutex);
    for (const ObjectInfo& object : page) {
      if (object.archived) {
        return Error(Code::invalid, "the object is archived and cannot be read",
                     "restore it first, or leave it out of the set")
            .at(store + object.key);
      }
      HEADRACE_TRY(index.add(object));
    }
    return {};
  }

  Mutex mutex;
  ObjectIndexBuilder index;
};

Result<ObjectIndex> list_everything(Store& source, const FetchOptions& options,
                                    const std::stop_token& stop) {
  HEADRACE_TRY(auto empty, ObjectIndexBuilder::make());
  Listing listing(std::move(empty));
  const ObjectSink sink = [&](std::span<const ObjectInfo> page) {
    return listing.add(page, source.describe());
  };
  HEADRACE_TRY(list_below(source, "", kListers, stop, sink));
  for (const std::string& key : options.also) {
    auto found = source.head(key, stop);
    if (!found && found.error().code() == Code::not_found) continue;
    HEADRACE_TRY(const auto object, std::move(found));
    HEADRACE_TRY(sink(std::span(&object, 1)));
  }
  HEADRACE_TRY(ObjectIndex found, listing.index.finish());
  if (found.size() == 0) {
    return Error(Code::not_found, "nothing lies there", "check the path or the prefix")
        .at(source.describe());
  }
  return found;
}

constexpr const char* kMoreSpace =
    "free space, take a folder on a larger volume, or use mode stream, which needs none";

std::uint64_t space_of(std::uint64_t size, const local::Volume& volume) {
  return (size + volume.block_bytes - 1) / volume.block_bytes * volume.block_bytes;
}

/// Before anything is made: of a fetch that does not fit nothing must stay.
Result<void> check_first_fetch(const ObjectIndex& objects, const std::string& folder) {
  if (fetching::Journal::is_in(folder)) return {};  // only some may be missing
  HEADRACE_TRY(const auto volume, local::volume_of(folder));
  local::Need need{.files = objects.size()};
  for (std::uint64_t i = 0; i < objects.size(); ++i)
    need.bytes += space_of(objects.bytes(i), volume);
  return local::check_space(volume, need, kMoreSpace);
}

/// Files would replace themselves, or the next listing would find the copies, too.
Result<void> check_apart(const Store& source, const std::string& folder) {
  std::error_code elsewhere;
  const auto from = std::filesystem::canonical(source.describe(), elsewhere);
  if (elsewhere) return {};  // not a folder of this machine
  const auto into = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), elsewhere);
  const auto [end, at] = std::mismatch(from.begin(), from.end(), into.begin(), into.end());
  if (elsewhere || end != from.end()) return {};
  return Error(Code::invalid, "the copy would lie in its own source",
               "take a folder elsewhere, or read the set where it is by mode direct")
      .at(folder);
}

bool is_file_of(const std::string& path, std::uint64_t size) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == size;
}

}  // namespace

Result<FetchReport> fetch(Store& source, const std::string& folder, const FetchOptions& options,
                          const std::stop_token& stop) {
  HEADRACE_TRY(check_apart(source, folder));
  HEADRACE_TRY(const ObjectIndex objects, list_everything(source, options, stop));
  HEADRACE_TRY(fetching::check_names(objects).at(source.describe()));
  HEADRACE_TRY(check_first_fetch(objects, folder));
  HEADRACE_TRY(const auto journal, fetching::Journal::open(folder));
  HEADRACE_TRY(const auto volume, local::volume_of(folder));
  FetchReport report{.objects = objects.size()};
  std::vector<std::uint64_t> missing;
  std::uint64_t space = 0;
  for (std::uint64_t i = 0; i < objects.size(); ++i) {
    const std::uint64_t size = objects.bytes(i);
    report.bytes += size;
    const std::string path = folder + "/" + objects.key(i);
    if (journal->has(fetching::identity(objects.key(i), objects.pin(i))) &&
        is_file_of(path, size)) {
      continue;
    }
    missing.push_back(i);
    report.fetched_bytes += size;
    space += space_of(size, volume);
  }
  report.fetched_objects = missing.size();
  HEADRACE_TRY(local::check_space(volume, {space, missing.size()}, kMoreSpace));
  const auto done = fetching::download({.source = source,
                                        .objects = objects,
                                        .missing = missing,
                                        .folder = folder,
                                        .options = options,
                                        .journal = *journal,
                                        .bytes_total = report.fetched_bytes},
                                       stop);
  HEADRACE_TRY(journal->finish(stop));  // whole files count, whatever came later
  HEADRACE_TRY(done);
  return report;
}

}  // namespace headrace
