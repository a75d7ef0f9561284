// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/object_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "headrace/storage/ranges.h"

namespace headrace::mount {
namespace {

constexpr std::size_t kMostFiles = 4096;    // whose reads are remembered
constexpr std::size_t kMostFolders = 4096;  // the same
constexpr std::uint64_t kLeastAhead = std::uint64_t{64} << 10U;
constexpr Nanos kStale = std::chrono::seconds(5);

Error stopped() { return {Code::cancelled, "stopped"}; }

}  // namespace

struct ObjectReader::Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  ByteBudget::Grant grant;
  std::stop_source stop;
  bool done = false;
  unsigned waiting = 0;
  std::uint64_t served = 0;
  Bytes bytes;
  std::optional<Error> failure;
  Condition changed;
};

struct ObjectReader::File {
  File(NodeId number, ObjectInfo info, const ReadAheadOptions& options)
      : id(number), object(std::move(info)), ahead(object.size, options) {}

  NodeId id;
  ObjectInfo object;
  ReadAhead ahead;
  bool read = false;  // by somebody, not only ahead of need
  Nanos last_read{0};
  std::map<std::uint64_t, PartPtr> parts;  // by begin; they do not overlap
  std::list<NodeId>::iterator used;
};

struct ObjectReader::Start {
  PartPtr part;
  ReadRequest request;
};

ObjectReader::ObjectReader(Store& store, Tree& tree, Context context, const ReaderOptions& options)
    : store_(store),
      tree_(tree),
      context_(std::move(context)),
      options_(options),
      budget_(options.budget_bytes) {}

ObjectReader::~ObjectReader() {
  MutexLock lock(mutex_);
  for (auto& [id, file] : files_) {
    for (auto& [begin, part] : file.parts) part->stop.request_stop();
  }
  while (in_flight_ != 0) lock.wait(idle_);
}

Result<std::vector<Bytes>> ObjectReader::read(NodeId id, std::uint64_t offset, std::uint64_t length,
                                              const std::stop_token& stop) {
  std::vector<Start> starts;
  std::vector<PartPtr> needed;
  {
    const MutexLock lock(mutex_);
    HEADRACE_TRY(File* const file, file_of(id));
    counts_.reads.fetch_add(1, std::memory_order_relaxed);
    if (offset >= file->object.size || length == 0) return std::vector<Bytes>();
    length = std::min(length, file->object.size - offset);
    needed = plan(*file, offset, length, starts);
    const bool there =
        std::all_of(needed.begin(), needed.end(), [](const PartPtr& part) { return part->done; });
    if (there) counts_.hits.fetch_add(1, std::memory_order_relaxed);
  }
  for (Start& one : starts) start(std::move(one));

  std::vector<Bytes> slices;
  std::optional<Error> failure;
  MutexLock lock(mutex_);
  for (const PartPtr& part : needed) {
    while (!failure && !part->done) {
      if (!lock.wait(part->changed, stop)) failure = stopped();
    }
    --part->waiting;
    if (!failure && part->failure) failure = part->failure;
    if (failure) continue;
    const std::uint64_t begin = std::max(offset, part->begin);
    const std::uint64_t end = std::min(offset + length, part->end);
    slices.push_back(part->bytes.slice(begin - part->begin, end - begin));
    part->served += end - begin;
  }
  if (const auto found = files_.find(id); found != files_.end()) {
    for (const PartPtr& part : needed) {
      const bool over = part->done && (part->failure || part->served >= part->end - part->begin);
      if (over && part->waiting == 0) erase(found->second, part);
    }
  }
  if (failure) return *std::move(failure);
  counts_.bytes.fetch_add(length, std::memory_order_relaxed);
  return slices;
}

Result<ObjectReader::File*> ObjectReader::file_of(NodeId id) {
  if (const auto found = files_.find(id); found != files_.end()) {
    used_.splice(used_.begin(), used_, found->second.used);
    return &found->second;
  }
  HEADRACE_TRY(auto object, tree_.object(id));
  if (object.archived) {
    return Error(Code::denied, "the object is archived", "restore it first")
        .at(object_place(store_.describe(), object.key));
  }
  for (auto last = used_.end(); files_.size() >= kMostFiles && last != used_.begin();) {
    const auto victim = files_.find(*--last);
    const auto& parts = victim->second.parts;
    if (std::any_of(parts.begin(), parts.end(), [](auto& at) { return at.second->waiting != 0; }))
      continue;
    const auto next = std::next(last);
    drop_file(victim);
    last = next;
  }
  used_.push_front(id);
  File& made = files_.try_emplace(id, id, std::move(object), options_.ahead).first->second;
  made.used = used_.begin();
  made.last_read = context_.clock->now();
  return &made;
}

std::vector<ObjectReader::PartPtr> ObjectReader::plan(File& file, std::uint64_t offset,
                                                      std::uint64_t length,
                                                      std::vector<Start>& starts) {
  const bool first = !std::exchange(file.read, true);
  file.last_read = context_.clock->now();
  ReadAhead::Plan plan = file.ahead.on_read(offset, length);
  if (plan.step != 0) {
    const std::uint64_t sharers = std::max<std::size_t>(with_parts_, 1);
    const std::uint64_t share = options_.budget_bytes / sharers;
    plan.ahead = std::max(plan.end, std::min(plan.ahead, plan.end + share));
    plan.step = share < kLeastAhead ? 0 : std::min(plan.step, std::bit_floor(share));
    if (plan.step == 0) plan.ahead = plan.end;
  }
  std::vector<PartPtr> needed;
  for (std::uint64_t at = plan.begin; at < plan.ahead;) {
    const bool wanted = at < plan.end;
    auto next = file.parts.upper_bound(at);
    PartPtr part;
    if (next != file.parts.begin() && std::prev(next)->second->end > at) {
      part = std::prev(next)->second;
      if (part->done && part->failure) {  // it failed ahead of need: tried again
        erase(file, part);
        continue;
      }
    } else {
      const std::uint64_t limit =
          next == file.parts.end() ? plan.ahead : std::min(plan.ahead, next->first);
      const std::uint64_t end = request_end(at, limit, plan.step);
      // No crumbs: what is ahead waits until it is a whole request.
      const bool whole =
          plan.step == 0 || end % plan.step == 0 || end == file.object.size || end != plan.ahead;
      if (!wanted && !whole) break;
      part = part_at(file, at, end, wanted, starts);
      if (part == nullptr) break;  // no room
    }
    if (wanted && part->end > offset && part->begin < offset + length) {
      ++part->waiting;
      needed.push_back(part);
    }
    at = part->end;
  }
  if (first && file.object.size <= options_.ahead.whole) {
    const auto node = tree_.node(file.id);
    if (node) plan_neighbours(file, tree_.parent(file.id), node->place, starts);
  }
  return needed;
}

ObjectReader::PartPtr ObjectReader::part_at(File& file, std::uint64_t begin, std::uint64_t end,
                                            bool wanted, std::vector<Start>& starts) {
  auto grant = reserve(end - begin, wanted, file);
  if (!grant) return nullptr;
  auto part = std::make_shared<Part>();
  part->begin = begin;
  part->end = end;
  part->grant = *std::move(grant);
  if (file.parts.empty()) ++with_parts_;
  file.parts.emplace(begin, part);
  ++in_flight_;
  if (!wanted) counts_.fetched_ahead.fetch_add(1, std::memory_order_relaxed);
  starts.push_back({part,
                    {.key = file.object.key,
                     .range = {.offset = begin, .length = end - begin},
                     .pin = file.object.pin,
                     .stop = part->stop.get_token()}});
  return part;
}

void ObjectReader::plan_neighbours(File& file, NodeId folder, std::uint64_t place,
                                   std::vector<Start>& starts) {
  if (folders_.size() > kMostFolders) folders_.clear();
  const auto plan = folders_[folder].on_first_read(place);
  if (plan.count == 0) return;
  for (const NodeId id : tree_.following(file.id, plan.from, plan.count)) {
    if (files_.contains(id)) continue;
    const auto object = tree_.object(id);
    if (!object || object->size == 0 || object->size > options_.ahead.whole || object->archived) {
      continue;
    }
    const auto made = file_of(id);
    if (!made || part_at(**made, 0, object->size, false, starts) == nullptr) return;
  }
}

std::optional<ByteBudget::Grant> ObjectReader::reserve(std::uint64_t bytes, bool wanted,
                                                       const File& for_whom) {
  for (;;) {
    auto grant = budget_.try_reserve(bytes);
    if (grant) return grant;
    if (drop_one(for_whom, !wanted)) continue;
    if (!wanted) return std::nullopt;
    return budget_.take(bytes);
  }
}

bool ObjectReader::drop_one(const File& for_whom, bool stale_only) {
  const Nanos now = context_.clock->now();
  for (auto at = used_.rbegin(); at != used_.rend(); ++at) {
    File& file = files_.at(*at);
    if (stale_only && (now - file.last_read < kStale || &file == &for_whom)) continue;
    for (auto& [begin, part] : file.parts) {
      if (part->waiting != 0 || (!part->done && part->stop.stop_requested())) continue;
      const PartPtr held = part;
      held->stop.request_stop();  // where it is in flight; its bytes come back at its end
      counts_.dropped.fetch_add(1, std::memory_order_relaxed);
      erase(file, held);
      return true;
    }
  }
  return false;
}

void ObjectReader::drop_file(std::unordered_map<NodeId, File>::iterator at) {
  while (!at->second.parts.empty()) {
    const PartPtr part = at->second.parts.begin()->second;
    part->stop.request_stop();
    counts_.dropped.fetch_add(1, std::memory_order_relaxed);
    erase(at->second, part);
  }
  used_.erase(at->second.used);
  files_.erase(at);
}

void ObjectReader::erase(File& file, const PartPtr& part) {
  const auto found = file.parts.find(part->begin);
  if (found == file.parts.end() || found->second != part) return;
  file.parts.erase(found);
  if (file.parts.empty()) --with_parts_;
}

void ObjectReader::start(Start&& what) {
  store_.read(std::move(what.request), [this, part = what.part](Result<ReadResult> result) {
    finish(part, std::move(result));
  });
}

void ObjectReader::finish(const PartPtr& part, Result<ReadResult> result) {
  const MutexLock lock(mutex_);
  if (!result) {
    part->failure = std::move(result).error();
    part->grant.release();
  } else if (result->bytes.size() != part->end - part->begin) {
    part->failure =
        Error(Code::corrupt, fmt::format("{} bytes came, {} were asked for", result->bytes.size(),
                                         part->end - part->begin));
  } else {
    part->bytes = std::move(result->bytes);
  }
  part->done = true;
  part->changed.notify_all();
  if (--in_flight_ == 0) idle_.notify_all();
}

}  // namespace headrace::mount
