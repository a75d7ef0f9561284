// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/node_table.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/random.h"
#include "headrace/consumers/mount/names.h"

namespace headrace::mount {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::size_t kLongestText = std::numeric_limits<std::uint16_t>::max();

std::uint64_t hash_of(NodeId folder, std::string_view name) {
  return mix_key(hash_bytes(as_byte_span(name)).low, folder);
}

}  // namespace

Result<NodeTable> NodeTable::make() {
  NodeTable table;
  HEADRACE_TRY(table.records_, MappedArray<Record>::make());
  HEADRACE_TRY(table.texts_, MappedArray<char>::make());
  HEADRACE_TRY(table.grow_index(kFirstSlots));
  HEADRACE_TRY(table.records_.append(Record()));                // kNone
  HEADRACE_TRY(table.records_.append(Record{.folder = true}));  // kRoot
  return table;
}

std::size_t NodeTable::slot_of(NodeId folder, std::string_view name) const {
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = hash_of(folder, name) & mask;; slot = (slot + 1) & mask) {
    const NodeId id = index_[slot];
    if (id == kNone || (record(id).parent == folder && this->name(id) == name)) return slot;
  }
}

NodeId NodeTable::find(NodeId folder, std::string_view name) const {
  return index_[slot_of(folder, name)];
}

Result<void> NodeTable::grow_index(std::size_t slots) {
  HEADRACE_TRY(auto larger, MappedArray<NodeId>::make());
  const std::vector<NodeId> page(kFirstSlots, kNone);
  for (std::size_t i = 0; i < slots; i += page.size()) {
    HEADRACE_TRY(larger.append(std::span<const NodeId>(page)));
  }
  const auto old = std::exchange(index_, std::move(larger));
  for (std::size_t i = 0; i < old.size(); ++i) {
    const NodeId id = old[i];
    if (id != kNone) index_.span()[slot_of(record(id).parent, name(id))] = id;
  }
  return {};
}

Result<std::uint64_t> NodeTable::append_text(std::string_view name, const Pin& pin) {
  if (pin.etag.size() > kLongestText || pin.version.size() > kLongestText) {
    return Error(Code::corrupt, "an ETag of more than 64 KiB");
  }
  const std::uint64_t at = texts_.size();
  for (const std::string_view part :
       {name, std::string_view(pin.etag), std::string_view(pin.version)}) {
    HEADRACE_TRY(texts_.append(std::span<const char>(part.data(), part.size())));
  }
  return at;
}

Result<NodeId> NodeTable::append(NodeId folder, std::string_view name, const Record& base,
                                 const Pin& pin) {
  if (records_.size() > std::numeric_limits<NodeId>::max()) {
    return Error(Code::exhausted, "more than 4 billion files", "mount a folder below");
  }
  Record made = base;
  HEADRACE_TRY(made.text, append_text(name, pin));
  made.parent = folder;
  made.name = static_cast<std::uint8_t>(name.size());
  made.etag = static_cast<std::uint16_t>(pin.etag.size());
  made.version = static_cast<std::uint16_t>(pin.version.size());
  const auto id = static_cast<NodeId>(records_.size());
  HEADRACE_TRY(records_.append(made));
  const NodeId last = record(folder).last;
  (last == kNone ? record(folder).first : record(last).next) = id;
  record(folder).last = id;
  return id;
}

Result<NodeTable::Added> NodeTable::add_file(NodeId folder, std::string_view name,
                                             const ObjectInfo& object) {
  if ((indexed_ + 1) * 2 > index_.size()) HEADRACE_TRY(grow_index(index_.size() * 2));
  const std::size_t slot = slot_of(folder, name);
  const NodeId before = index_[slot];
  if (before != kNone && record(before).folder) return Added{before, true};
  if (before != kNone) {  // a listing that was begun again: what it says now is right
    if (pin(before) == object.pin) return Added{before, false};
    Record changed = record(before);
    HEADRACE_TRY(changed.text, append_text(name, object.pin));
    changed.size = object.size;
    changed.modified_ns = object.pin.modified_ns;
    changed.etag = static_cast<std::uint16_t>(object.pin.etag.size());
    changed.version = static_cast<std::uint16_t>(object.pin.version.size());
    changed.archived = object.archived;
    record(before) = changed;
    return Added{before, false};
  }
  const Record base{
      .size = object.size, .modified_ns = object.pin.modified_ns, .archived = object.archived};
  HEADRACE_TRY(const NodeId id, append(folder, name, base, object.pin));
  index_.span()[slot] = id;
  ++indexed_;
  return Added{id, false};
}

Result<NodeTable::Added> NodeTable::add_folder(NodeId folder, std::string_view name) {
  if ((indexed_ + 1) * 2 > index_.size()) HEADRACE_TRY(grow_index(index_.size() * 2));
  const std::size_t slot = slot_of(folder, name);
  const NodeId before = index_[slot];
  if (before != kNone && record(before).folder) return Added{before, false};
  HEADRACE_TRY(const NodeId id, append(folder, name, Record{.folder = true}, {}));
  index_.span()[slot] = id;
  if (before == kNone) {
    ++indexed_;
    return Added{id, false};
  }
  record(before).shadowed = true;
  return Added{id, true};
}

Result<void> NodeTable::sort_children(NodeId folder) {
  std::vector<NodeId> children;
  for (NodeId at = record(folder).first; at != kNone; at = record(at).next) {
    if (!record(at).shadowed) children.push_back(at);
  }
  std::sort(children.begin(), children.end(),
            [this](NodeId a, NodeId b) { return name(a) < name(b); });
  NodeId last = kNone;
  std::uint32_t place = 0;
  for (const NodeId child : children) {
    record(child).place = place++;
    (last == kNone ? record(folder).first : record(last).next) = child;
    last = child;
  }
  if (last != kNone) record(last).next = kNone;
  record(folder).last = last;
  return {};
}

Node NodeTable::node(NodeId id) const {
  const Record& from = record(id);
  return {.id = id,
          .folder = from.folder,
          .archived = from.archived,
          .place = from.place,
          .size = from.size,
          .modified_ns = from.modified_ns};
}

std::string_view NodeTable::name(NodeId id) const { return text(record(id).text, record(id).name); }

std::string NodeTable::key(NodeId id) const {
  std::vector<NodeId> path;
  for (NodeId at = id; at != kRoot; at = record(at).parent) path.push_back(at);
  std::string key;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    key += name(*at);
    if (record(*at).folder) key += '/';
  }
  return key;
}

Pin NodeTable::pin(NodeId id) const {
  const Record& from = record(id);
  const std::uint64_t etag = from.text + from.name;
  return {.etag = std::string(text(etag, from.etag)),
          .version = std::string(text(etag + from.etag, from.version)),
          .modified_ns = from.modified_ns,
          .size = from.size};
}

}  // namespace headrace::mount
