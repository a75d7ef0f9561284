// SPDX-License-Identifier: Apache-2.0
/// \file All files and folders that a mount has seen, in file-backed memory: private memory does
/// not grow with their number.
///
/// Not thread-safe (tree.h locks). A node stays for as long as the table, so its number may be
/// handed to the kernel as it is. About 40 bytes a node, its name and pin, and 8 of the index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace::mount {

/// 1 is the root, as the kernel wants it; 0 is nobody.
using NodeId = std::uint32_t;
inline constexpr NodeId kRoot = 1;
inline constexpr NodeId kNone = 0;

struct Node {
  NodeId id = kNone;
  bool folder = false;
  bool archived = false;
  std::uint32_t place = 0;  ///< in its folder's order
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};

class NodeTable {
 public:
  static Result<NodeTable> make();

  std::size_t size() const { return records_.size(); }

  /// kNone if the folder has no such name.
  NodeId find(NodeId folder, std::string_view name) const;

  struct Added {
    NodeId id = kNone;
    bool shadowed = false;  ///< a folder of the same name took the file's place, or keeps it
  };
  /// Adds an object below `folder`, or refreshes what stands there. A folder of that name stays.
  Result<Added> add_file(NodeId folder, std::string_view name, const ObjectInfo& object);
  /// Adds a folder below `folder`; a file of that name is hidden from now on.
  Result<Added> add_folder(NodeId folder, std::string_view name);
  /// Puts the children of `folder` in the order of their names' bytes; drops what is hidden.
  Result<void> sort_children(NodeId folder);

  Node node(NodeId id) const;
  std::string_view name(NodeId id) const;
  NodeId parent(NodeId id) const { return record(id).parent; }
  /// The first child, and the one after: kNone at the end.
  NodeId first_child(NodeId folder) const { return record(folder).first; }
  NodeId next_sibling(NodeId id) const { return record(id).next; }

  /// Of a file: the key; of a folder: the prefix with its '/', "" for the root.
  std::string key(NodeId id) const;
  Pin pin(NodeId id) const;

 private:
  struct Record {
    std::uint64_t text = 0;  // name, ETag, version in texts_
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    NodeId parent = kNone;
    NodeId next = kNone;
    NodeId first = kNone;
    NodeId last = kNone;
    std::uint32_t place = 0;
    std::uint16_t etag = 0;  // lengths
    std::uint16_t version = 0;
    std::uint8_t name = 0;
    bool folder = false;
    bool archived = false;
    bool shadowed = false;  // a file that a folder of the same name hides
  };

  const Record& record(NodeId id) const { return records_[id]; }
  Record& record(NodeId id) { return records_.span()[id]; }
  Result<NodeId> append(NodeId folder, std::string_view name, const Record& base, const Pin& pin);
  Result<std::uint64_t> append_text(std::string_view name, const Pin& pin);
  std::size_t slot_of(NodeId folder, std::string_view name) const;
  Result<void> grow_index(std::size_t slots);
  std::string_view text(std::uint64_t at, std::size_t length) const {
    return {texts_.span().data() + at, length};
  }

  MappedArray<Record> records_;
  MappedArray<char> texts_;
  MappedArray<NodeId> index_;  // open addressing; a power of two, at most half full
  std::size_t indexed_ = 0;
};

}  // namespace headrace::mount
