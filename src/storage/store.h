// SPDX-License-Identifier: Apache-2.0
/// \file Where bytes live: one interface for memory, disks, S3, NFS and what wraps them.
///
/// Thread-safe: every call may come from any thread. The implementation to copy is memory/;
/// testing/store_conformance.h holds what each one must pass. Mode `keep` is a Store over a
/// Store, `--medium` too: composition, not options.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace {

/// Which version of an object was seen first; every later read asks for the same one.
/// With an ETag it is exact. Without one a version id, else the modification time, and the size:
/// such a pin is weak, and the store leaves the notice "weak-pin" once. An ETag is opaque: never
/// taken for an MD5.
struct Pin {
  std::string etag;              ///< as the server gave it, quotes included
  std::string version;           ///< version id, if the bucket has versions
  std::int64_t modified_ns = 0;  ///< since 1970; 0 = unknown
  std::uint64_t size = 0;        ///< of the whole object

  bool weak() const { return etag.empty() && version.empty(); }
  bool operator==(const Pin&) const = default;
};

struct ObjectInfo {
  std::string key;  ///< relative to the store's root, byte-exact
  std::uint64_t size = 0;
  Pin pin;
  bool archived = false;  ///< must be restored before it can be read (Glacier and the like)
};

struct ByteRange {
  static constexpr std::uint64_t kToEnd = ~std::uint64_t{0};

  std::uint64_t offset = 0;
  std::uint64_t length = kToEnd;  ///< a range beyond the end is `invalid`, never short

  bool operator==(const ByteRange&) const = default;
};

struct ReadRequest {
  std::string key;
  ByteRange range;
  std::optional<Pin> pin;  ///< absent: whatever is there now
  bool fresh = false;      ///< past every cache, the system's too: a second look at damaged bytes
  std::stop_token stop;    ///< asks for an early end; the completion is still called, once
};

struct ReadResult {
  Bytes bytes;              ///< exactly the range
  Pin pin;                  ///< of the object that answered
  bool from_cache = false;  ///< served by the node cache, not by the origin
};

/// Called exactly once, on a thread of the store (or on the caller's, before `read` returns).
/// It may only hand over: no blocking, no call back into the store that waits.
using ReadDone = std::function<void(Result<ReadResult>)>;

struct ListRequest {
  std::string prefix;       ///< of the key; empty = everything
  bool by_folder = false;   ///< stop at the next '/': deeper keys appear as folders
  std::string start_after;  ///< only keys that are greater, by bytes
};

struct ListPage {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> folders;  ///< prefixes with their '/', if `by_folder`
};

/// What will be wanted soon.
struct Wanted {
  std::string key;
  ByteRange range;
  Pin pin;
};

/// Bytes on their way into an object that appears whole, or not at all.
/// Not thread-safe. Destroyed before `finish`: nothing appears, what was there before stays.
class ObjectWriter {
 public:
  ObjectWriter() = default;
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  virtual ~ObjectWriter() = default;

  virtual Result<void> append(ByteSpan bytes) = 0;
  /// The object is durable and visible when this returns its pin.
  virtual Result<Pin> finish() = 0;
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  /// Stops what is in flight and returns when every completion has been called.
  virtual ~Store() = default;

  /// For messages: "s3://bucket/prefix", "/data".
  virtual std::string describe() const = 0;

  ///  * the object's size and pin
  ///  * not_found, denied, unavailable, …
  virtual Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) = 0;

  /// Hands pages to `sink` until the end, an error, or the sink's `false`. The order of keys is
  /// the server's own, and servers differ: never rely on it. Folder markers (keys that end in
  /// '/') of size 0 are left out.
  virtual Result<void> list(const ListRequest& request, const std::stop_token& stop,
                            const std::function<Result<bool>(ListPage&&)>& sink) = 0;

  /// Starts a read; hundreds may be in flight. A pin that no longer holds is `changed`.
  /// A length of 0 (an empty object too) completes without a request.
  virtual void read(ReadRequest request, ReadDone done) = 0;

  /// `invalid` if the store is read-only.
  virtual Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                                       const std::stop_token& stop) = 0;
  virtual Result<void> remove(const std::string& key, const std::stop_token& stop) = 0;

  /// The next ranges that will be read, in that order; each call goes on where the last one
  /// ended. Advisory: may be ignored, may be cut.
  virtual void hint(std::span<const Wanted> /*wanted*/) {}
};

/// Waits for one read.
Result<ReadResult> read_now(Store& store, ReadRequest request);

/// Creates `key` with these bytes, whole.
Result<Pin> put(Store& store, const std::string& key, ByteSpan bytes, const std::stop_token& stop);

/// Everything below `prefix`, sorted by key bytes. For tests and small sets only.
Result<std::vector<ObjectInfo>> list_all(Store& store, const std::string& prefix,
                                         const std::stop_token& stop);

}  // namespace headrace
