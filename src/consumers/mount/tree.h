// SPDX-License-Identifier: Apache-2.0
/// \file The folders and files of a store as a file system sees them: each folder is listed once,
/// when somebody first looks into it, and stays as it was then.
///
/// Thread-safe. Listings run on threads of their own, so that whoever waits for one can be
/// interrupted and the next finds it further on. A listing that fails fails those who wait for it;
/// the next one who asks tries again. Names that no file system can show are hidden (names.h); a
/// folder hides the object of the same name.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/base/mutex.h"
#include "headrace/consumers/mount/node_table.h"
#include "headrace/storage/store.h"

namespace headrace::mount {

struct Child {
  Node node;
  std::string name;
};

class Tree {
 public:
  /// `store` must outlive it.
  static Result<std::unique_ptr<Tree>> make(Store& store, const Context& context);
  Tree(Store& store, Context context, NodeTable table);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  /// Waits for the first of the root's children: whether the place answers at all.
  ///  * not_found  it answers that it has none: mostly a prefix that is misspelt
  Result<void> check(const std::stop_token& stop);

  ///  * the child of that name
  ///  * not_found: the folder was listed, and has none
  Result<Node> lookup(NodeId folder, std::string_view name, const std::stop_token& stop);

  /// `invalid` if there is no such node.
  Result<Node> node(NodeId id);

  /// Up to `count` children after `after` (kNone: from the first), in the order of their names'
  /// bytes.
  Result<std::vector<Child>> children(NodeId folder, NodeId after, std::size_t count,
                                      const std::stop_token& stop);

  /// What to read a file by. `invalid` if it is none.
  Result<ObjectInfo> object(NodeId id);
  NodeId parent(NodeId id);
  /// The number that stat shows: a hash of the key, so the same in each mount of the store.
  std::uint64_t inode(NodeId id);

  /// The children that stand `from` to `from + count` places after `file` in its folder; folders
  /// among them are left out.
  std::vector<NodeId> following(NodeId file, std::size_t from, std::size_t count);

  std::size_t size();

 private:
  struct Listing {
    bool running = true;
    std::optional<Error> failure;
    Condition changed;
  };

  Result<void> listed(NodeId folder, const std::stop_token& stop);
  std::shared_ptr<Listing> begin(NodeId folder) HEADRACE_REQUIRES(mutex_);
  void walk_ahead(NodeId folder) HEADRACE_REQUIRES(mutex_);
  void serve(const std::stop_token& stop);
  Result<void> list(NodeId folder, const std::string& prefix, Listing& listing,
                    const std::stop_token& stop);
  Result<void> take(NodeId folder, std::size_t prefix, const ListPage& page)
      HEADRACE_REQUIRES(mutex_);
  void hidden(const std::string& key, std::string_view why);
  bool known(NodeId id) const HEADRACE_REQUIRES(mutex_) {
    return id != kNone && id < table_.size();
  }

  Store& store_;
  const Context context_;
  Mutex mutex_;
  NodeTable table_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<bool> complete_ HEADRACE_GUARDED_BY(mutex_);  // by node: its list is all there
  std::map<NodeId, std::shared_ptr<Listing>> running_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<std::pair<NodeId, std::shared_ptr<Listing>>> queue_ HEADRACE_GUARDED_BY(mutex_);
  NodeId last_asked_ HEADRACE_GUARDED_BY(mutex_) = kNone;
  Condition queued_;
  std::vector<std::jthread> threads_;
};

}  // namespace headrace::mount
