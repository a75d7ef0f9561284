// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/snapshot/keeping.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "headrace/base/cache_folder.h"
#include "headrace/records/list_index.h"
#include "headrace/storage/forwarding_store.h"

namespace headrace {
namespace {

class SnapshotStore final : public ForwardingStore<> {
 public:
  SnapshotStore(Store& below, std::shared_ptr<const Snapshot> snapshot)
      : ForwardingStore(below), snapshot_(std::move(snapshot)) {}

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    if (const auto found = snapshot_->objects().find(key)) return snapshot_->objects().info(*found);
    return below().head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return list_index(snapshot_->objects(), request, stop, sink);
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& /*key*/,
                                               const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "a snapshot is read only").at(describe());
  }
  Result<void> remove(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "a snapshot is read only").at(describe());
  }
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }

 private:
  const std::shared_ptr<const Snapshot> snapshot_;
};

Result<std::string> folder_of_snapshots() {
  if (auto dir = cache_folder("HEADRACE_SNAPSHOT_DIR", "headrace-snapshots"); !dir.empty())
    return dir;
  return Error(Code::invalid,
               "no place for the snapshot: neither HEADRACE_SNAPSHOT_DIR nor HOME is set",
               "give --snapshot-file");
}

Result<std::string> file_of(const std::string& place, const SnapshotKeeping& keeping) {
  if (!keeping.file.empty()) return keeping.file;
  HEADRACE_TRY(const std::string folder, folder_of_snapshots());
  return fmt::format("{}/{}.snapshot", folder, hash_bytes(as_byte_span(place)).to_hex());
}

/// "42 s", "3 h 20 min", "12 days".
std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  constexpr std::int64_t kDay = 86400;
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  if (seconds < kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < 2 * kDay) {
    return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / kMinute);
  }
  return fmt::format("{} days", seconds / kDay);
}

}  // namespace

Result<std::shared_ptr<const Snapshot>> keep_snapshot(Store& store, const SnapshotKeeping& keeping,
                                                      const Context& context,
                                                      const std::stop_token& stop) {
  if (keeping.use == SnapshotUse::none) return std::shared_ptr<const Snapshot>();
  HEADRACE_TRY(const std::string path, file_of(store.describe(), keeping));
  auto kept = Snapshot::load(path, store.describe());
  // What is there and is no snapshot of this place is not ours to replace.
  if (!kept && kept.error().code() != Code::corrupt) return std::move(kept).error();
  if (keeping.use == SnapshotUse::reuse) {
    if (!kept) {
      context.notices->add("snapshot-damaged", kept.error().to_string() + ": listed again");
    } else if (*kept != nullptr) {
      context.notices->add(
          "snapshot",
          fmt::format("{} objects as listed {} ago ({}): what came since is not seen; "
                      "--snapshot refresh lists again",
                      (*kept)->objects().size(),
                      age_text(context.clock->wall_seconds() - (*kept)->taken_at()), path));
      return kept;
    }
  }
  HEADRACE_TRY(auto taken, Snapshot::take(store, context.clock->wall_seconds(), stop));
  std::error_code ignored;  // what cannot be made is told by the file that cannot be written
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  if (auto saved = taken->save(path); !saved)
    return std::move(saved).error().advise("name another place: --snapshot-file");
  context.notices->add("snapshot", fmt::format("{} objects were listed and kept in {}",
                                               taken->objects().size(), path));
  // As the next job has it: mapped, not in scratch files.
  HEADRACE_TRY(auto mapped, Snapshot::load(path, store.describe()));
  return mapped != nullptr ? std::move(mapped) : std::move(taken);
}

std::unique_ptr<Store> make_snapshot_store(Store& below, std::shared_ptr<const Snapshot> snapshot) {
  return std::make_unique<SnapshotStore>(below, std::move(snapshot));
}

std::shared_ptr<const Snapshot> snapshot_of(const Store& store) {
  const auto* const view = dynamic_cast<const SnapshotStore*>(&store);
  return view != nullptr ? view->snapshot() : nullptr;
}

}  // namespace headrace
