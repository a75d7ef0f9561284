// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/tree.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "headrace/base/digest.h"
#include "headrace/consumers/mount/names.h"

namespace headrace::mount {
namespace {

constexpr unsigned kThreads = 8;    // folders that are listed at once
constexpr unsigned kWalkAhead = 7;  // folders listed ahead of someone who walks the tree

Error stopped() { return {Code::cancelled, "stopped"}; }
Error no_node() { return {Code::invalid, "no such node"}; }

}  // namespace

Result<std::unique_ptr<Tree>> Tree::make(Store& store, const Context& context) {
  HEADRACE_TRY(auto table, NodeTable::make());
  return std::make_unique<Tree>(store, context, std::move(table));
}

Tree::Tree(Store& store, Context context, NodeTable table)
    : store_(store), context_(std::move(context)), table_(std::move(table)) {
  for (unsigned i = 0; i < kThreads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
}

Tree::~Tree() {
  for (auto& thread : threads_) thread.request_stop();
  for (auto& thread : threads_) thread.join();
}

Result<void> Tree::check(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const auto listing = begin(kRoot);
  const auto is_empty = [this]() HEADRACE_REQUIRES(mutex_) {
    return table_.first_child(kRoot) == kNone;
  };
  while (listing != nullptr && listing->running && is_empty()) {
    if (!lock.wait(listing->changed, stop)) return stopped();
  }
  if (listing != nullptr && listing->failure) return *listing->failure;
  if (!is_empty()) return {};
  return Error(Code::not_found, "there is nothing to show: no object lies here",
               "check how the place is spelt; a mount never shows what comes later")
      .at(store_.describe());
}

std::shared_ptr<Tree::Listing> Tree::begin(NodeId folder) {
  if (complete_.size() > folder && complete_[folder]) return nullptr;
  auto& listing = running_[folder];
  if (listing == nullptr) {
    listing = std::make_shared<Listing>();
    queue_.emplace_back(folder, listing);
    queued_.notify_one();
  }
  return listing;
}

void Tree::walk_ahead(NodeId folder) {
  // Whoever looks into one folder after the other will want the next ones, too: where each list
  // takes 30 ms, a thousand class folders are half a minute one by one.
  const NodeId before = std::exchange(last_asked_, folder);
  if (folder == kRoot || before == kNone || before == folder) return;
  if (table_.parent(before) != table_.parent(folder)) return;
  NodeId next = table_.next_sibling(before);
  while (next != kNone && !table_.node(next).folder) next = table_.next_sibling(next);
  if (next != folder) return;
  next = table_.next_sibling(folder);
  for (unsigned ahead = 0; next != kNone && ahead < kWalkAhead; next = table_.next_sibling(next)) {
    if (!table_.node(next).folder) continue;
    begin(next);
    ++ahead;
  }
}

Result<void> Tree::listed(NodeId folder, const std::stop_token& stop) {
  MutexLock lock(mutex_);
  if (!known(folder) || !table_.node(folder).folder) return no_node();
  const auto listing = begin(folder);
  // A path is looked up from the root, so folders above are asked in between: they say nothing.
  const bool above = listing == nullptr && table_.parent(folder) != table_.parent(last_asked_);
  if (!above && folder != last_asked_) walk_ahead(folder);
  if (listing == nullptr) return {};
  while (listing->running) {
    if (!lock.wait(listing->changed, stop)) return stopped();
  }
  if (listing->failure) return *listing->failure;
  return {};
}

Result<Node> Tree::lookup(NodeId folder, std::string_view name, const std::stop_token& stop) {
  HEADRACE_TRY(listed(folder, stop));
  const MutexLock lock(mutex_);
  const NodeId id = table_.find(folder, name);
  if (id == kNone) return Error(Code::not_found, "no such file or folder");
  return table_.node(id);
}

Result<Node> Tree::node(NodeId id) {
  const MutexLock lock(mutex_);
  if (!known(id)) return no_node();
  return table_.node(id);
}

Result<std::vector<Child>> Tree::children(NodeId folder, NodeId after, std::size_t count,
                                          const std::stop_token& stop) {
  HEADRACE_TRY(listed(folder, stop));
  const MutexLock lock(mutex_);
  if (after != kNone && (!known(after) || table_.parent(after) != folder)) return no_node();
  std::vector<Child> found;
  for (NodeId at = after == kNone ? table_.first_child(folder) : table_.next_sibling(after);
       at != kNone && found.size() < count; at = table_.next_sibling(at)) {
    found.push_back({table_.node(at), std::string(table_.name(at))});
  }
  return found;
}

Result<ObjectInfo> Tree::object(NodeId id) {
  const MutexLock lock(mutex_);
  if (!known(id) || table_.node(id).folder) return no_node();
  const Node node = table_.node(id);
  return ObjectInfo{
      .key = table_.key(id), .size = node.size, .pin = table_.pin(id), .archived = node.archived};
}

NodeId Tree::parent(NodeId id) {
  const MutexLock lock(mutex_);
  return known(id) && id != kRoot ? table_.parent(id) : kRoot;
}

std::uint64_t Tree::inode(NodeId id) {
  if (id == kRoot) return kRoot;
  const MutexLock lock(mutex_);
  const std::string key = table_.key(id);
  const std::uint64_t hash = hash_bytes(as_byte_span(key)).low;
  return hash > kRoot ? hash : hash + 2;  // neither 0, which is nobody, nor the root's
}

std::vector<NodeId> Tree::following(NodeId file, std::size_t from, std::size_t count) {
  const MutexLock lock(mutex_);
  std::vector<NodeId> found;
  if (!known(file)) return found;
  NodeId at = file;
  for (std::size_t i = 0; i < from && at != kNone; ++i) at = table_.next_sibling(at);
  for (; at != kNone && count > 0; at = table_.next_sibling(at), --count) {
    if (!table_.node(at).folder) found.push_back(at);
  }
  return found;
}

std::size_t Tree::size() {
  const MutexLock lock(mutex_);
  return table_.size() - 1;
}

void Tree::serve(const std::stop_token& stop) {
  for (;;) {
    NodeId folder = kNone;
    std::shared_ptr<Listing> listing;
    std::string prefix;
    {
      MutexLock lock(mutex_);
      while (queue_.empty()) {
        if (!lock.wait(queued_, stop)) return;
      }
      std::tie(folder, listing) = std::move(queue_.front());
      queue_.pop_front();
      prefix = table_.key(folder);
    }
    auto done = list(folder, prefix, *listing, stop);
    const MutexLock lock(mutex_);
    if (done) done = table_.sort_children(folder);
    if (done) {
      if (complete_.size() <= folder) complete_.resize(table_.size());
      complete_[folder] = true;
    } else {
      listing->failure = std::move(done).error();
    }
    listing->running = false;
    running_.erase(folder);
    listing->changed.notify_all();
  }
}

Result<void> Tree::list(NodeId folder, const std::string& prefix, Listing& listing,
                        const std::stop_token& stop) {
  const auto sink = [&](ListPage&& page) -> Result<bool> {
    const MutexLock lock(mutex_);
    HEADRACE_TRY(take(folder, prefix.size(), page));
    listing.changed.notify_all();
    return !stop.stop_requested();
  };
  HEADRACE_TRY(store_.list({.prefix = prefix, .by_folder = true}, stop, sink));
  if (stop.stop_requested()) return stopped();
  return {};
}

Result<void> Tree::take(NodeId folder, std::size_t prefix, const ListPage& page) {
  for (const std::string& below : page.folders) {
    const auto name = std::string_view(below).substr(prefix, below.size() - prefix - 1);
    if (const auto why = why_hidden(name); !why.empty()) {
      hidden(below, why);
      continue;
    }
    HEADRACE_TRY(const auto added, table_.add_folder(folder, name));
    if (added.shadowed) hidden(below.substr(0, below.size() - 1), "a folder has the same name");
  }
  for (const ObjectInfo& object : page.objects) {
    const auto name = std::string_view(object.key).substr(prefix);
    if (const auto why = why_hidden(name); !why.empty()) {
      hidden(object.key, why);
      continue;
    }
    HEADRACE_TRY(const auto added, table_.add_file(folder, name, object));
    if (added.shadowed) hidden(object.key, "a folder has the same name");
  }
  return {};
}

void Tree::hidden(const std::string& key, std::string_view why) {
  context_.notices->add("hidden-name",
                        fmt::format("{}{} is not shown: {}", store_.describe(), key, why));
}

}  // namespace headrace::mount
