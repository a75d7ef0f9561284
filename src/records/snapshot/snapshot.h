// SPDX-License-Identifier: Apache-2.0
/// \file All that a store lists, taken once, kept in a file and mapped: a job that uses it again
/// lists nothing, and begins as fast for a hundred million objects as for ten.
///
/// Immutable; thread-safe. FORMAT.md has the file's bytes. Example: keeping.h.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/records/object_index.h"
#include "headrace/storage/store.h"

namespace headrace {

class Snapshot {
 public:
  /// Lists the store, folders side by side, and looks into few objects for the set's format.
  /// `unix_seconds` is the time that it is called taken at.
  static Result<std::shared_ptr<const Snapshot>> take(Store& store, std::int64_t unix_seconds,
                                                      const std::stop_token& stop);
  ///  * the snapshot, mapped
  ///  * null: no such file
  ///  * `corrupt`: the file is cut, damaged, or of another version; `invalid`: it is of another
  ///    place, or no snapshot
  static Result<std::shared_ptr<const Snapshot>> load(const std::string& path,
                                                      const std::string& place);
  /// The file appears whole, or not at all.
  Result<void> save(const std::string& path) const;

  const ObjectIndex& objects() const { return objects_; }
  const std::string& place() const { return place_; }  ///< Store::describe() of what was listed
  std::int64_t taken_at() const { return taken_at_; }  ///< seconds since 1970
  /// Every object lies in a folder below the root, is no hidden or system file, and can be read.
  bool plain() const { return plain_; }
  /// Of the set that its objects are, "folder"; empty if it was not found out.
  const std::string& format() const { return format_; }
  /// ObjectIndex::fingerprint().
  const Hash128& fingerprint() const { return fingerprint_; }

  /// A file's bytes as a snapshot, as `load` reads them; `owner` keeps them.
  static Result<std::shared_ptr<const Snapshot>> parse(ByteSpan file,
                                                       std::shared_ptr<const void> owner);
  /// The bytes that stand before the entries.
  std::string head() const;

 private:
  explicit Snapshot(ObjectIndex objects) : objects_(std::move(objects)) {}

  ObjectIndex objects_;
  std::string place_;
  std::int64_t taken_at_ = 0;
  bool plain_ = true;
  std::string format_;
  Hash128 fingerprint_;
};

}  // namespace headrace
