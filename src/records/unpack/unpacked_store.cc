// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/unpack/unpacked_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/base/scratch_file.h"
#include "headrace/storage/block.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

/// One object's bytes: pieces of kPiece bytes each, but for the last, anywhere in the scratch file.
struct Content {
  static constexpr std::uint64_t kPiece = 1U << 20U;

  UnpackedStore::Unpacked unpacked;
  std::vector<std::uint64_t> pieces;
};

class Scratch final : public UnpackedStore {
 public:
  Scratch(Store& below, ScratchFile file, ScanProgress* scanning)
      : below_(below), file_(std::move(file)), scanning_(scanning) {}

  std::string describe() const override { return below_.describe(); }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    if (const auto found = find(key)) return found->unpacked.object;
    return below_.head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return below_.list(request, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    const auto found = find(request.key);
    if (found == nullptr) {
      below_.read(std::move(request), std::move(done));
    } else {
      done(read_scratch(*found, request.range).at(object_place(describe(), request.key)));
    }
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& /*key*/,
                                               const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what was unpacked is read only");
  }
  Result<void> remove(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "what was unpacked is read only");
  }

  Result<Unpacked> unpack(const ObjectInfo& object, Codec codec, std::uint64_t most,
                          const std::stop_token& stop) override {
    if (const auto found = find(object.key)) return found->unpacked;
    auto content = std::make_shared<Content>();
    content->unpacked.object = object;
    HEADRACE_TRY(
        content->unpacked.object.size,
        fill(*content, object, codec, most, stop).at(object_place(describe(), object.key)));
    const MutexLock lock(mutex_);
    return contents_.try_emplace(object.key, std::move(content)).first->second->unpacked;
  }

 private:
  std::shared_ptr<const Content> find(const std::string& key) const {
    const MutexLock lock(mutex_);
    const auto found = contents_.find(key);
    return found == contents_.end() ? nullptr : found->second;
  }

  /// The size of what is inside; what is damaged goes into `failure`.
  Result<std::uint64_t> fill(Content& content, const ObjectInfo& object, Codec codec,
                             std::uint64_t most, const std::stop_token& stop) {
    const auto compressed =
        make_store_source(below_, object, {.count = read_bytes(scanning_)}, stop);
    const auto source = make_unpacking_source(*compressed, codec, most);
    Buffer piece(Content::kPiece);
    std::size_t filled = 0;
    std::uint64_t size = 0;
    while (true) {
      auto got = source->next();
      if (!got && got.error().code() == Code::corrupt) {
        content.unpacked.failure = got.error().cause();
        break;
      }
      HEADRACE_TRY(const Bytes bytes, std::move(got));
      if (bytes.empty()) break;
      ByteSpan rest = bytes.span();
      size += rest.size();
      while (!rest.empty()) {
        const std::size_t count = std::min(rest.size(), piece.size() - filled);
        std::ranges::copy(rest.first(count), piece.data() + filled);
        rest = rest.subspan(count);
        filled += count;
        if (filled == piece.size()) HEADRACE_TRY(store(content, piece.span(), filled));
      }
    }
    HEADRACE_TRY(store(content, piece.span().first(filled), filled));
    return size;
  }

  Result<void> store(Content& content, ByteSpan piece, std::size_t& filled) {
    HEADRACE_TRY(const std::uint64_t offset, file_.append(piece));
    content.pieces.push_back(offset);
    filled = 0;
    return {};
  }

  Result<ReadResult> read_scratch(const Content& content, const ByteRange& asked) const {
    const ObjectInfo& object = content.unpacked.object;
    HEADRACE_TRY(const ByteRange range, resolve(asked, object.size));
    HEADRACE_TRY(Buffer into, allocate(range.length));
    std::span<std::byte> rest = into.span();
    std::uint64_t at = range.offset;
    while (!rest.empty()) {
      const std::uint64_t within = at % Content::kPiece;
      const auto count = std::min<std::uint64_t>(rest.size(), Content::kPiece - within);
      HEADRACE_TRY(file_.read(content.pieces[at / Content::kPiece] + within, rest.first(count)));
      rest = rest.subspan(count);
      at += count;
    }
    return ReadResult{.bytes = std::move(into).freeze(range.length), .pin = object.pin};
  }

  Store& below_;
  ScratchFile file_;
  ScanProgress* const scanning_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const Content>> contents_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<UnpackedStore>> make_unpacked_store(Store& below, ScanProgress* scanning) {
  HEADRACE_TRY(auto file, ScratchFile::make());
  return std::make_unique<Scratch>(below, std::move(file), scanning);
}

}  // namespace headrace
