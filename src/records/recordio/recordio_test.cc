// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/recordio.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/walk.h"
#include "headrace/records/scan.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/mxnet/";

void add(Store& store, const std::string& key, ByteSpan content) {
  ASSERT_TRUE(put(store, key, content, {}));
}

void add(Store& store, const std::string& key, const std::string& content) {
  add(store, key, as_byte_span(content));
}

void add_vector(Store& store, const std::string& key, const std::string& file) {
  add(store, key, read_file(kVectors + file).span());
}

/// A file of records with one label each; their pictures are "picture 0", "picture 1", ….
std::vector<std::byte> records(const std::vector<float>& labels) {
  std::vector<std::byte> file;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto header = recordio::image_header(std::span(&labels[i], 1), i);
    const std::string picture = fmt::format("picture {}", i);
    EXPECT_TRUE(recordio::append_frame(header, as_byte_span(picture), file));
  }
  return file;
}

Result<Sample> sample(Store& store, const Dataset& set, std::uint64_t id) {
  const Extent extent = set.locate(SampleId{id});
  EXPECT_EQ(extent.range.length, set.frame_bytes(SampleId{id}));
  HEADRACE_TRY(const auto read, read_now(store, {.key = extent.key, .range = extent.range}));
  return set.parse(SampleId{id}, read.bytes);
}

std::map<std::string, std::string> notices(const Context& context) {
  std::map<std::string, std::string> texts;
  for (const auto& notice : context.notices->all()) texts[notice.kind] = notice.text;
  return texts;
}

class MemorySideStore final : public SideStore {
 public:
  std::map<std::string, std::vector<std::byte>> kept;
  int hits = 0;

  Result<std::optional<Bytes>> get(const SideKey& key) override {
    const auto found = kept.find(key.kind + key.object + key.pin.etag);
    if (found == kept.end()) return std::optional<Bytes>();
    ++hits;
    return std::optional(Bytes::copy_of(ByteSpan(found->second)));
  }
  Result<void> put(const SideKey& key, ByteSpan bytes) override {
    kept[key.kind + key.object + key.pin.etag] = {bytes.begin(), bytes.end()};
    return {};
  }
};

TEST(Recordio, RecordsAreSamples) {
  MemoryStore store;
  add(store, "train.rec", records({0, 2, 1}));
  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "recordio");
  EXPECT_EQ((*set)->index_source(), "scan");
  ASSERT_EQ((*set)->size(), 3U);
  const auto second = sample(store, **set, 1);
  ASSERT_TRUE(second);
  EXPECT_THAT(second->labels, ElementsAre(2));
  EXPECT_EQ(second->payload.text(), "picture 1");
  EXPECT_EQ((*set)->name(SampleId{1}), "train.rec#1 @ 44");
}

TEST(Recordio, ShardsAreSortedByNameAndFoundByContent) {
  MemoryStore store;
  add(store, "b", records({1}));
  add(store, "deep/a.rec", records({2, 3}));
  add(store, "a", records({0}));
  add(store, "empty.rec", "");
  add(store, "notes.bin", "no container");
  add(store, "a.lst", "0\t0\tx\n");
  const Context context;
  const auto set = open_recordio(store, context, {});
  ASSERT_TRUE(set) << set.error().to_string();
  std::vector<std::string> names;
  std::vector<float> labels;
  for (std::uint64_t i = 0; i < (*set)->size(); ++i) {
    names.push_back((*set)->name(SampleId{i}));
    labels.push_back(sample(store, **set, i)->labels[0]);
  }
  EXPECT_THAT(names, ElementsAre("a#0 @ 0", "b#0 @ 0", "deep/a.rec#0 @ 0", "deep/a.rec#1 @ 44"));
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(notices(context)["not-a-shard"], HasSubstr("notes.bin"));
}

TEST(Recordio, NoContainerIsNotFound) {
  MemoryStore store("s3://b/p");
  add(store, "a.lst", "0\t0\tx\n");
  const auto set = open_recordio(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_THAT(set.error().cause(), HasSubstr("no RecordIO file under s3://b/p, 1 other keys"));
}

TEST(Recordio, IndexOfMxnetIsUsedAndEqualsAScan) {
  for (const std::string name : {"single", "multilabel", "magic", "bigid", "empty"}) {
    SCOPED_TRACE(name);
    MemoryStore with;
    add_vector(with, "x.rec", name + ".rec");
    const auto scanned = open_recordio(with, {}, {});
    add_vector(with, "x.idx", name + ".idx");
    const Context context;
    const auto indexed = open_recordio(with, context, {});
    ASSERT_TRUE(scanned && indexed);
    EXPECT_EQ((*scanned)->index_source(), "scan");
    EXPECT_EQ((*indexed)->index_source(), "idx");
    EXPECT_EQ((*scanned)->fingerprint(), (*indexed)->fingerprint());
    EXPECT_TRUE(context.notices->all().empty());
  }
}

// Blank lines, \r, odd keys and any order do no harm; a wrong offset makes the file be scanned.
TEST(Recordio, AWrongIndexIsFoundBeforeUse) {
  const std::map<std::string, std::string> expected = {
      {"blank_line", "idx"},  {"crlf", "idx"},      {"duplicate_key", "idx"},
      {"float_key", "idx"},   {"shuffled", "idx"},  {"no_final_newline", "idx"},
      {"misaligned", "scan"}, {"negative", "scan"}, {"past_end", "scan"},
      {"subset", "scan"},
  };
  for (const auto& [name, source] : expected) {
    SCOPED_TRACE(name);
    MemoryStore store;
    add_vector(store, "x.rec", "damage_base.rec");
    add_vector(store, "x.idx", "damage_base." + name + ".idx");
    const Context context;
    const auto set = open_recordio(store, context, {});
    ASSERT_TRUE(set);
    EXPECT_EQ((*set)->index_source(), source);
    EXPECT_EQ(notices(context).count("idx-wrong"), source == "scan" ? 1U : 0U);
    ASSERT_EQ((*set)->size(), 6U);
    for (std::uint64_t i = 0; i < 6; ++i) EXPECT_TRUE(sample(store, **set, i));
  }
}

TEST(Recordio, IndexOfALongerFileIsNotUsed) {
  for (const std::string name : {"trunc_at_boundary", "garbage_between", "trunc_in_payload"}) {
    MemoryStore store;
    add_vector(store, "x.rec", "damage_" + name + ".rec");
    add_vector(store, "x.idx", "damage_base.idx");
    const Context context;
    const auto set = open_recordio(store, context, {});
    ASSERT_TRUE(set);
    EXPECT_EQ((*set)->index_source(), "scan");
    EXPECT_THAT(notices(context)["idx-wrong"], HasSubstr("the index of x.rec does not fit it"));
  }
}

// With more records than are looked at, a wrong offset in between may pass; then that record is
// corrupt, and no other record's content is taken for it.
TEST(Recordio, AnIndexThatPassesAndIsWrongIsNeverSilent) {
  const std::vector<float> labels(1000, 1);
  const auto file = records(labels);
  MemoryStore store;
  add(store, "x.rec", file);
  const auto right = open_recordio(store, {}, {});
  ASSERT_TRUE(right);
  std::string idx;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto offset = (*right)->locate(SampleId{i}).range.offset;
    if (i == 500) wrong = offset += 4;
    idx += fmt::format("{}\t{}\n", i, offset);
  }
  add(store, "x.idx", idx);
  const auto set = open_recordio(store, {}, {});
  ASSERT_TRUE(set);
  for (std::uint64_t i = 0; i < (*set)->size(); ++i) {
    const auto got = sample(store, **set, i);
    const bool touched = (*set)->index_source() == "idx" && (i == 499 || i == 500);
    ASSERT_EQ(got.ok(), !touched) << i;
    if (got) {
      EXPECT_EQ(got->payload.text(), fmt::format("picture {}", i));
    }
  }
  EXPECT_GT(wrong, 0U);
}

TEST(Recordio, DamageIsASampleThatIsCorrupt) {
  MemoryStore store;
  add_vector(store, "x.rec", "damage_bad_magic.rec");
  const Context context;
  const auto set = open_recordio(store, context, {});
  ASSERT_TRUE(set);
  ASSERT_EQ((*set)->size(), 6U);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(sample(store, **set, i).ok(), i != 3);
  const auto bad = sample(store, **set, 3);
  EXPECT_EQ(bad.error().code(), Code::corrupt);
  EXPECT_EQ(bad.error().place(), "x.rec#3 @ 41368");
  EXPECT_THAT(bad.error().cause(), HasSubstr("no RecordIO magic"));
  ASSERT_EQ((*set)->damage().size(), 1U);
  EXPECT_EQ((*set)->damage()[0].damage.begin, 41368U);
  EXPECT_THAT(notices(context)["damage"], HasSubstr("x.rec @ 41368"));
}

TEST(Recordio, FrameThatIsCutOrLongerIsCorrupt) {
  MemoryStore store;
  add(store, "x.rec", records({0, 1}));
  const auto set = open_recordio(store, {}, {});
  ASSERT_TRUE(set);
  const auto read = read_now(store, {.key = "x.rec"});
  ASSERT_TRUE(read);
  EXPECT_FALSE((*set)->parse(SampleId{0}, read->bytes));
  EXPECT_FALSE((*set)->parse(SampleId{0}, read->bytes.slice(0, 20)));
  EXPECT_FALSE((*set)->parse(SampleId{0}, {}));
}

TEST(Recordio, EmptyRecordIsLegalAndABadSample) {
  MemoryStore store;
  add_vector(store, "x.rec", "empty.rec");
  const auto set = open_recordio(store, {}, {});
  ASSERT_TRUE(set);
  ASSERT_EQ((*set)->size(), 9U);
  EXPECT_TRUE((*set)->damage().empty());
  for (std::uint64_t i = 0; i < 9; ++i)
    EXPECT_EQ(sample(store, **set, i).ok(), i == 0 || i == 6) << i;
}

TEST(Recordio, ScanIsTheSameForAnyStretchAndThreads) {
  for (const auto& entry : std::filesystem::directory_iterator(kVectors)) {
    if (entry.path().extension() != ".rec") continue;
    SCOPED_TRACE(entry.path());
    MemoryStore store;
    add(store, "x.rec", read_file(entry.path()).span());
    const auto info = store.head("x.rec", {});
    ASSERT_TRUE(info);
    const auto whole = scan(store, *info, recordio::kFraming, {.threads = 1}, {});
    ASSERT_TRUE(whole);
    for (const std::uint64_t stretch : {4096U, 20000U, 65536U}) {
      const auto cut =
          scan(store, *info, recordio::kFraming, {.threads = 3, .stretch_bytes = stretch}, {});
      ASSERT_TRUE(cut);
      EXPECT_EQ(cut->damage(), whole->damage());
      EXPECT_EQ(as_text(std::as_bytes(cut->frames())), as_text(std::as_bytes(whole->frames())));
    }
  }
}

// SageMaker's writers never split: a payload may hold what looks like a head.
TEST(Recordio, ScanIsNotMisledByAHeadInsideAPayload) {
  std::vector<std::byte> inner = records({0, 0, 0, 0, 0, 0, 0, 0});
  std::vector<std::byte> file;
  const std::uint32_t words[2] = {recordio::kMagic, static_cast<std::uint32_t>(inner.size())};
  const auto head = std::as_bytes(std::span(words));
  for (int i = 0; i < 5; ++i) {
    file.insert(file.end(), head.begin(), head.end());
    file.insert(file.end(), inner.begin(), inner.end());
  }
  MemoryStore store;
  add(store, "x.rec", file);
  const auto info = store.head("x.rec", {});
  const auto scanned =
      scan(store, *info, recordio::kFraming, {.threads = 4, .stretch_bytes = 64}, {});
  ASSERT_TRUE(scanned);
  EXPECT_EQ(scanned->frames().size(), 5U);
}

TEST(Recordio, ScanIsKeptInTheSideStore) {
  MemoryStore store;
  add_vector(store, "x.rec", "damage_bad_magic.rec");
  MemorySideStore side;
  const auto first = open_recordio(store, {}, {.side_store = &side});
  const auto second = open_recordio(store, {}, {.side_store = &side});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(side.hits, 1);
  EXPECT_EQ((*second)->index_source(), "side-store");
  EXPECT_EQ((*first)->fingerprint(), (*second)->fingerprint());
  EXPECT_EQ((*first)->damage(), (*second)->damage());
  side.kept.begin()->second.resize(40);
  const auto third = open_recordio(store, {}, {.side_store = &side});
  ASSERT_TRUE(third);
  EXPECT_EQ((*third)->index_source(), "scan");
}

TEST(Recordio, ClassNamesBesideTheShardAreRead) {
  MemoryStore store;
  add(store, "a/train-00000-of-00002.rec", records({0, 1}));
  add(store, "a/train.classes.txt", "cat\ndog\n");
  const auto set = open_recordio(store, {}, {});
  ASSERT_TRUE(set);
  EXPECT_THAT((*set)->classes(), ElementsAre("cat", "dog"));
}

TEST(Recordio, ShardsThatTheNamesPromiseAndThatAreMissingAreNamed) {
  MemoryStore store;
  for (const char* key : {"t-00000-of-00003.rec", "t-00002-of-00003.rec", "one-1-of-2.rec",
                          "one-2-of-2.rec", "x-of-9.rec", "y-1-of-.rec"}) {
    add(store, key, records({0}));
  }
  const Context context;
  ASSERT_TRUE(open_recordio(store, context, {}));
  int missing = 0;
  for (const auto& notice : context.notices->all()) {
    if (notice.kind != "shards-missing") continue;
    ++missing;
    EXPECT_THAT(notice.text, HasSubstr("2 of 3 shards of \"t\" are there, number 1 is not"));
  }
  EXPECT_EQ(missing, 1);
}

TEST(Recordio, LabelsAreRenumberedByTheTrainingSetsClasses) {
  MemoryStore store;
  add(store, "val.rec", records({0, 1, 7}));
  add(store, "classes.txt", "cat\ndog\n");
  const auto set = open_recordio(store, {}, {.classes = {"ape", "cat", "cow", "dog"}});
  ASSERT_TRUE(set);
  EXPECT_EQ(sample(store, **set, 0)->labels[0], 1);
  EXPECT_EQ(sample(store, **set, 1)->labels[0], 3);
  EXPECT_EQ(sample(store, **set, 2).error().code(), Code::corrupt);
  const auto unknown = open_recordio(store, {}, {.classes = {"ape", "cat"}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().cause(), HasSubstr("\"dog\""));
}

TEST(Recordio, ContainersInFoldersAreFoundWithoutBeingNamed) {
  MemoryStore store;
  add(store, "part/0", records({1}));
  add(store, "part/1", records({2}));
  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->format(), "recordio");
  EXPECT_EQ((*set)->size(), 2U);
}

TEST(Recordio, RecordFilesWithoutARecordAreNoSet) {
  MemoryStore store("s3://b/p");
  add(store, "train.rec", "");
  const auto one = open_dataset(store, {}, {});
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code(), Code::not_found);
  EXPECT_EQ(one.error().place(), "s3://b/p/train.rec");
  add(store, "other.rec", "");
  const auto two = open_dataset(store, {}, {});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code(), Code::not_found);
  EXPECT_EQ(two.error().place(), "s3://b/p");
}

TEST(Recordio, PicturesInFoldersAreFolders) {
  MemoryStore store;
  add(store, "cat/1.jpg", "\xff\xd8\xff");
  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->format(), "folder");
  EXPECT_FALSE(open_dataset(store, {}, {.format = "paper"}));
}

TEST(Recordio, HeapDoesNotGrowWithTheNumberOfRecords) {
  MemoryStore store;
  add(store, "x.rec", records(std::vector<float>(200'000, 1)));
  const auto before = mallinfo2().uordblks;
  const auto set = open_recordio(store, {}, {});
  const auto after = mallinfo2().uordblks;
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->size(), 200'000U);
  EXPECT_LT(after - std::min(before, after), 1'000'000U);
}

TEST(Recordio, IndexNameBelongsToTheFile) {
  EXPECT_EQ(recordio::idx_key("a/train.rec"), "a/train.idx");
  EXPECT_EQ(recordio::idx_key("a.rec/part"), "a.rec/part.idx");
}

}  // namespace
}  // namespace headrace
