// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/unpack/unpacked_store.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/base/scratch_file.h"
#include "headrace/records/unpack/scratch_content.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/read_pool.h"

namespace headrace {
namespace {

struct Waiting {
  ReadRequest request;
  ReadDone done;
};

void end_as_stopped(const std::string& store, std::vector<Waiting>& all) {
  for (Waiting& one : all)
    one.done(Error(Code::cancelled, "stopped").at(object_place(store, one.request.key)));
}

/// An object that reads as what is inside.
struct Entry {
  ObjectInfo object;  ///< as it is, compressed
  Codec codec = Codec::gzip;
  Inside inside;
  std::shared_ptr<const ScratchContent> content;  ///< none: it was not read yet
  bool unpacking = false;                         ///< a thread is at it, or will be
  std::vector<Waiting> waiting;                   ///< for that
};

/// Who still waits in the end is told so.
struct Entries {
  explicit Entries(std::string name) : store(std::move(name)) {}
  Entries(const Entries&) = delete;
  Entries& operator=(const Entries&) = delete;
  ~Entries() {
    for (auto& [key, entry] : by_key) end_as_stopped(store, entry.waiting);
  }

  const std::string store;
  std::map<std::string, Entry> by_key;
};

class Scratch final : public UnpackedStore {
 public:
  Scratch(Store& below, ScratchFile file, ScanProgress* scanning)
      : below_(below),
        file_(std::move(file)),
        scanning_(scanning),
        entries_(below.describe()),
        unpackers_(below.describe(), kUnpackers,
                   [this](const ReadRequest& request, const std::stop_token& ending) {
                     return unpack_and_read(request, ending);
                   }) {}

  std::string describe() const override { return below_.describe(); }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    {
      const MutexLock lock(mutex_);
      const auto found = entries_.by_key.find(key);
      if (found != entries_.by_key.end())
        return inside_of(found->second.object, found->second.inside);
    }
    return below_.head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return below_.list(request, stop, sink);
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& /*key*/,
                                               const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what was unpacked is read only");
  }
  Result<void> remove(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what was unpacked is read only");
  }

  void read(ReadRequest request, ReadDone done) override {
    MutexLock lock(mutex_);
    const auto found = entries_.by_key.find(request.key);
    if (found == entries_.by_key.end()) {
      lock.unlock();
      below_.read(std::move(request), std::move(done));
    } else if (const auto content = found->second.content;
               content && !(request.fresh && is_damaged(*content, request))) {
      lock.unlock();
      done(read_content(*content, request));
    } else if (found->second.unpacking) {
      found->second.waiting.push_back({std::move(request), std::move(done)});
    } else {
      found->second.unpacking = true;
      found->second.content.reset();  // if there was one, the scratch has failed it
      lock.unlock();
      unpackers_.push(std::move(request), std::move(done));
    }
  }

  Result<Inside> unpack(const ObjectInfo& object, Codec codec, std::uint64_t most,
                        const std::stop_token& stop) override {
    {
      const MutexLock lock(mutex_);
      const auto found = entries_.by_key.find(object.key);
      if (found != entries_.by_key.end()) return found->second.inside;
    }
    const std::string place = object_place(describe(), object.key);
    const auto always = [] { return true; };
    Packed packed{.object = object, .codec = codec};
    HEADRACE_TRY(auto content, fill(packed, most, read_bytes(scanning_), stop, always).at(place));
    // A stream that seems to be damaged is read once more past every cache, as a record is.
    if (!content->inside().failure.empty()) {
      packed.fresh = true;
      auto again = fill(packed, most, nullptr, stop, always);
      if (again)
        content = *std::move(again);
      else if (again.error().code() == Code::cancelled)
        return std::move(again).error().at(place);
    }
    const MutexLock lock(mutex_);
    Entry entry{.object = object, .codec = codec, .inside = content->inside(), .content = content};
    return entries_.by_key.try_emplace(object.key, std::move(entry)).first->second.inside;
  }

  void unpack_later(const ObjectInfo& object, Codec codec, const Inside& inside) override {
    const MutexLock lock(mutex_);
    entries_.by_key.try_emplace(object.key,
                                Entry{.object = object, .codec = codec, .inside = inside});
  }

  std::uint64_t unpacked_bytes() const override { return unpacked_bytes_; }

 private:
  struct Packed {
    ObjectInfo object;
    Codec codec;
    bool fresh = false;
  };

  Result<std::shared_ptr<const ScratchContent>> fill(const Packed& packed, std::uint64_t most,
                                                     std::atomic<std::uint64_t>* count,
                                                     const std::stop_token& stop,
                                                     const std::function<bool()>& wanted) {
    const auto compressed =
        make_store_source(below_, packed.object, {.count = count, .fresh = packed.fresh}, stop);
    const auto source = make_unpacking_source(*compressed, packed.codec, most);
    HEADRACE_TRY(auto content, ScratchContent::make(*source, file_, wanted));
    unpacked_bytes_ += content->inside().size;
    return std::shared_ptr<const ScratchContent>(std::move(content));
  }

  Result<ReadResult> read_content(const ScratchContent& content, const ReadRequest& request) const {
    HEADRACE_TRY(auto bytes, content.read(request.range).at(object_place(describe(), request.key)));
    return ReadResult{.bytes = std::move(bytes), .pin = pin_of(request.key)};
  }
  /// Reads two pieces at most for a record, under the lock: rarely, after damage only.
  static bool is_damaged(const ScratchContent& content, const ReadRequest& request) {
    const auto intact = content.is_intact(request.range);
    return intact && !*intact;
  }
  Pin pin_of(const std::string& key) const {
    const MutexLock lock(mutex_);
    return entries_.by_key.at(key).object.pin;
  }

  /// Of an object that was to be unpacked later; on a thread of the pool, one an object.
  Result<ReadResult> unpack_and_read(const ReadRequest& request, const std::stop_token& ending) {
    auto content = unpack_now(request, ending);
    if (!content) {
      give_up(request.key, content.error());
      return std::move(content).error();
    }
    std::vector<Waiting> waiting;
    {
      const MutexLock lock(mutex_);
      Entry& entry = entries_.by_key.at(request.key);
      entry.content = *content;
      entry.unpacking = false;
      waiting.swap(entry.waiting);
    }
    for (Waiting& one : waiting) one.done(read_content(**content, one.request));
    return read_content(**content, request);
  }

  Result<std::shared_ptr<const ScratchContent>> unpack_now(const ReadRequest& request,
                                                           const std::stop_token& ending) {
    Packed packed;
    Inside expected;
    {
      const MutexLock lock(mutex_);
      const Entry& entry = entries_.by_key.at(request.key);
      packed = {.object = entry.object, .codec = entry.codec, .fresh = request.fresh};
      expected = entry.inside;
    }
    std::stop_source either;
    const std::stop_callback by_request(request.stop, [&either] { either.request_stop(); });
    const std::stop_callback by_end(ending, [&either] { either.request_stop(); });
    const auto wanted = [&] {
      end_stopped(request.key);
      return !either.stop_requested();
    };
    HEADRACE_TRY(auto content, fill(packed, std::max<std::uint64_t>(expected.size, 1), nullptr,
                                    either.get_token(), wanted));
    if (content->inside() == expected) return content;
    return Error(Code::corrupt, "unpacked, it is not what it was when it was indexed",
                 "the disk or the memory of this machine may be failing; without the index of "
                 "--index-dir it is read anew");
  }

  /// Those who asked and no longer want it need not wait for others.
  void end_stopped(const std::string& key) {
    std::vector<Waiting> ended;
    {
      const MutexLock lock(mutex_);
      auto& waiting = entries_.by_key.at(key).waiting;
      const auto rest = std::stable_partition(
          waiting.begin(), waiting.end(),
          [](const Waiting& one) { return !one.request.stop.stop_requested(); });
      std::move(rest, waiting.end(), std::back_inserter(ended));
      waiting.erase(rest, waiting.end());
    }
    end_as_stopped(describe(), ended);
  }

  /// Whoever waits gets the error too; only not that another one was stopped: then it is begun
  /// anew.
  void give_up(const std::string& key, const Error& error) {
    end_stopped(key);
    std::vector<Waiting> waiting;
    std::optional<Waiting> next;
    {
      const MutexLock lock(mutex_);
      Entry& entry = entries_.by_key.at(key);
      if (error.code() != Code::cancelled) {
        waiting.swap(entry.waiting);
      } else if (!entry.waiting.empty()) {
        next = std::move(entry.waiting.front());
        entry.waiting.erase(entry.waiting.begin());
      }
      entry.unpacking = next.has_value();
    }
    for (Waiting& one : waiting) one.done(Error(error).at(object_place(describe(), key)));
    if (next) unpackers_.push(std::move(next->request), std::move(next->done));
  }

  Store& below_;
  ScratchFile file_;
  ScanProgress* const scanning_;
  std::atomic<std::uint64_t> unpacked_bytes_{0};
  mutable Mutex mutex_;
  Entries entries_ HEADRACE_GUARDED_BY(mutex_);
  ReadPool unpackers_;  // last: its threads use the rest
};

}  // namespace

Result<std::unique_ptr<UnpackedStore>> make_unpacked_store(Store& below, ScanProgress* scanning) {
  HEADRACE_TRY(auto file, ScratchFile::make());
  return std::make_unique<Scratch>(below, std::move(file), scanning);
}

}  // namespace headrace
