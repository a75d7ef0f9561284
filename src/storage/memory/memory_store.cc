// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/memory/memory_store.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "headrace/storage/ranges.h"

namespace headrace {

class MemoryStore::Writer final : public ObjectWriter {
 public:
  Writer(MemoryStore& store, std::string key) : store_(store), key_(std::move(key)) {}

  Result<void> append(ByteSpan bytes) override {
    content_.insert(content_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<Pin> finish() override { return store_.replace(key_, Bytes::copy_of(ByteSpan(content_))); }

 private:
  MemoryStore& store_;
  const std::string key_;
  std::vector<std::byte> content_;
};

Result<MemoryStore::Object> MemoryStore::find(const std::string& key) const {
  const MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    return Error(Code::not_found, "no such object").at(object_place(name_, key));
  }
  return found->second;
}

Pin MemoryStore::replace(const std::string& key, Bytes bytes) {
  const MutexLock lock(mutex_);
  Object& object = objects_[key];
  object.pin = {.etag = fmt::format("\"{}\"", ++generation_), .size = bytes.size()};
  object.bytes = std::move(bytes);
  return object.pin;
}

Result<ObjectInfo> MemoryStore::head(const std::string& key, const std::stop_token& /*stop*/) {
  HEADRACE_TRY(const auto object, find(key));
  return ObjectInfo{.key = key, .size = object.bytes.size(), .pin = object.pin};
}

Result<void> MemoryStore::list(const ListRequest& request, const std::stop_token& /*stop*/,
                               const std::function<Result<bool>(ListPage&&)>& sink) {
  ListPage page;
  {
    const MutexLock lock(mutex_);
    std::set<std::string> folders;
    for (auto at = objects_.lower_bound(request.prefix);
         at != objects_.end() && at->first.starts_with(request.prefix); ++at) {
      const auto& [key, object] = *at;
      const auto slash = key.find('/', request.prefix.size());
      if (request.by_folder && slash != std::string::npos) {
        folders.insert(key.substr(0, slash + 1));
      } else if (key > request.start_after && !is_folder_marker(key, object.bytes.size())) {
        page.objects.push_back({.key = key, .size = object.bytes.size(), .pin = object.pin});
      }
    }
    page.folders.assign(folders.begin(), folders.end());
  }
  HEADRACE_TRY(sink(std::move(page)));
  return {};
}

void MemoryStore::read(ReadRequest request, ReadDone done) {
  const std::string place = object_place(name_, request.key);
  if (request.stop.stop_requested()) return done(Error(Code::cancelled, "stopped").at(place));
  auto object = find(request.key);
  if (!object) return done(std::move(object).error());
  if (request.pin && !same_version(*request.pin, object->pin))
    return done(changed_error(*request.pin, object->pin).at(place));
  const auto range = resolve(request.range, object->bytes.size());
  if (!range) return done(Result<ReadResult>(range.error()).at(place));
  done(ReadResult{object->bytes.slice(range->offset, range->length), object->pin});
}

Result<std::unique_ptr<ObjectWriter>> MemoryStore::create(const std::string& key,
                                                          const std::stop_token& /*stop*/) {
  return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, key));
}

Result<void> MemoryStore::remove(const std::string& key, const std::stop_token& /*stop*/) {
  const MutexLock lock(mutex_);
  if (objects_.erase(key) == 0) {
    return Error(Code::not_found, "no such object").at(object_place(name_, key));
  }
  return {};
}

}  // namespace headrace
