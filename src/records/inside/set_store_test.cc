// SPDX-License-Identifier: Apache-2.0
// The inside of a set is a Store like any other: the conformance suite runs on sets of which each
// sample lies behind a header in an object of its own. Real containers: inside_test.cc.
#include "headrace/records/inside/set_store.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "headrace/records/object_index.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace {
namespace {

constexpr std::string_view kHeader = "HEAD";

/// Samples that lie behind a header of four bytes.
class HeaderSet final : public Dataset {
 public:
  explicit HeaderSet(ObjectIndex objects) : objects_(std::move(objects)) {}
  std::string format() const override { return "headers"; }
  std::uint64_t size() const override { return objects_.size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return objects_.bytes(number(id)); }
  Extent locate(SampleId id) const override { return objects_.extent(number(id)); }
  Result<Sample> parse(SampleId /*id*/, const Bytes& frame) const override {
    return Sample{.labels = {0},
                  .payload = frame.slice(kHeader.size(), frame.size() - kHeader.size())};
  }
  std::string name(SampleId id) const override { return std::string(objects_.key(number(id))); }
  const std::vector<std::string>& classes() const override { return classes_; }
  Hash128 fingerprint() const override { return objects_.fingerprint(); }

 private:
  static std::uint64_t number(SampleId id) { return static_cast<std::uint64_t>(id); }

  const ObjectIndex objects_;
  const std::vector<std::string> classes_;
};

struct Opened {
  std::unique_ptr<Dataset> set;
  std::unique_ptr<Store> store;
};

Result<Opened> open_inside(Store& below, bool framed) {
  HEADRACE_TRY(auto builder, ObjectIndexBuilder::make());
  HEADRACE_TRY(const auto listed, list_all(below, "", {}));
  for (const ObjectInfo& info : listed) HEADRACE_TRY(builder.add(info));
  HEADRACE_TRY(auto objects, builder.finish());
  HEADRACE_TRY(auto names, SampleNames::make());
  for (std::uint64_t id = 0; id < objects.size(); ++id) {
    HEADRACE_TRY(
        names.add(objects.key(id), {.id = SampleId{id},
                                    .bytes = objects.bytes(id) - kHeader.size(),
                                    .offset = framed ? kHeader.size() : SampleNames::kUnframed}));
  }
  HEADRACE_TRY(names.finish());
  Opened opened;
  opened.set = std::make_unique<HeaderSet>(std::move(objects));
  opened.store = make_set_store(below, *opened.set, std::move(names));
  return opened;
}

/// Makes a set store writable for the suite: what is written goes below, and the set is opened anew
/// whenever something changed there.
class WritableInside final : public Store {
 public:
  explicit WritableInside(bool framed) : framed_(framed) {}

  std::string describe() const override { return "inside"; }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    HEADRACE_TRY(const auto now, inside());
    return now->store->head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    HEADRACE_TRY(const auto now, inside());
    return now->store->list(request, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    const auto now = inside();
    if (!now) return done(now.error());
    (*now)->store->read(std::move(request), std::move(done));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    if (key.ends_with('/')) return Error(Code::invalid, "no name for a sample").at(key);
    HEADRACE_TRY(auto writer, below_.create(key, stop));
    HEADRACE_TRY(writer->append(as_byte_span(kHeader)));
    return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, std::move(writer)));
  }
  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    HEADRACE_TRY(below_.remove(key, stop));
    ++written_;
    return {};
  }
  void hint(std::span<const Wanted> wanted) override {
    if (const auto now = inside()) (*now)->store->hint(wanted);
  }

 private:
  class Writer final : public ObjectWriter {
   public:
    Writer(WritableInside& inside, std::unique_ptr<ObjectWriter> below)
        : inside_(inside), below_(std::move(below)) {}
    Result<void> append(ByteSpan bytes) override { return below_->append(bytes); }
    Result<Pin> finish() override {
      HEADRACE_TRY(Pin pin, below_->finish());
      pin.size -= kHeader.size();
      ++inside_.written_;
      return pin;
    }

   private:
    WritableInside& inside_;
    const std::unique_ptr<ObjectWriter> below_;
  };

  Result<std::shared_ptr<Opened>> inside() {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t written = written_;
    if (!now_ || seen_ != written) {
      HEADRACE_TRY(auto opened, open_inside(below_, framed_));
      now_ = std::make_shared<Opened>(std::move(opened));
      seen_ = written;
    }
    return now_;
  }

  const bool framed_;
  MemoryStore below_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> written_ = 0;
  std::uint64_t seen_ = 0;
  std::shared_ptr<Opened> now_;
};

const bool kByRange =
    testing::register_store_conformance({.name = "inside_by_range",
                                         .make = [](const Context&) -> testing::StoreWorld::Made {
                                           return {nullptr, std::make_unique<WritableInside>(true)};
                                         },
                                         .folder_markers = false});
const bool kByFrame = testing::register_store_conformance(
    {.name = "inside_by_frame",
     .make = [](const Context&) -> testing::StoreWorld::Made {
       return {nullptr, std::make_unique<WritableInside>(false)};
     },
     .folder_markers = false});

TEST(SetStore, IsReadOnly) {
  ASSERT_TRUE(kByRange && kByFrame);
  MemoryStore below;
  ASSERT_TRUE(put(below, "a/1", as_byte_span("HEADx"), {}));
  const auto inside = open_inside(below, true);
  ASSERT_TRUE(inside);
  const auto created = inside->store->create("a/2", {});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), Code::invalid);
  EXPECT_FALSE(inside->store->remove("a/1", {}));
  EXPECT_TRUE(below.head("a/1", {}));
}

TEST(SetStore, OfAPictureInItsFrameOnlyTheRangeIsRead) {
  Context context;
  MemoryStore memory;
  ASSERT_TRUE(put(memory, "a/1", as_byte_span("HEAD0123456789"), {}));
  for (const bool framed : {true, false}) {
    const auto inside = open_inside(memory, framed);
    ASSERT_TRUE(inside);
    const auto read = read_now(*inside->store, {.key = "a/1", .range = {2, 3}});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->bytes.text(), "234");
  }
}

TEST(SetStore, AContainerThatWasReplacedIsChangedForItsSamples) {
  MemoryStore below;
  ASSERT_TRUE(put(below, "a/1", as_byte_span("HEADold"), {}));
  const auto inside = open_inside(below, true);
  ASSERT_TRUE(inside);
  ASSERT_TRUE(put(below, "a/1", as_byte_span("HEADnew"), {}));
  const auto read = read_now(*inside->store, {.key = "a/1"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::changed);
}

}  // namespace
}  // namespace headrace
