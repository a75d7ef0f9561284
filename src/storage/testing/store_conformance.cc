// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/store_conformance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "headrace/storage/testing/pattern.h"

namespace headrace::testing {
namespace {

class Conformance : public ::testing::Test {
 public:
  using Body = void (Conformance::*)();

  explicit Conformance(const StoreWorld& world) : world_(world) {}
  void TestBody() override { (this->*body_)(); }
  void SetUp() override {
    made_ = world_.make(context_);
    ASSERT_NE(made_.store, nullptr);
  }
  void set_body(Body body) { body_ = body; }

  // Each of these is one test; its name is the promise.

  void put_then_read_gives_the_bytes() {
    const std::string text = pattern(1, 100'000);
    const Pin pin = must_put("dir/a.bin", text);
    EXPECT_EQ(pin.size, text.size());
    expect_bytes({.key = "dir/a.bin"}, text);
    expect_bytes({.key = "dir/a.bin", .pin = pin}, text);
  }

  void head_gives_size_and_the_same_pin_as_read_and_list() {
    const Pin put_pin = must_put("a", "hello");
    const auto info = store().head("a", {});
    ASSERT_TRUE(info.ok()) << info.error().to_string();
    EXPECT_EQ(info->key, "a");
    EXPECT_EQ(info->size, 5U);
    EXPECT_EQ(info->pin.size, 5U);
    expect_same(info->pin, put_pin);
    const auto read = read_now(store(), {.key = "a"});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    expect_same(read->pin, info->pin);
    const auto listed = must_list("");
    ASSERT_EQ(listed.size(), 1U);
    // A list may know less about an object than a head does, never something else.
    expect_bytes({.key = "a", .pin = listed[0].pin}, "hello");
  }

  void ranges_give_exactly_their_bytes() {
    const std::string text = pattern(2, 70'001);
    const Pin pin = must_put("a", text);
    for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {0, 1}, {0, 70'001}, {70'000, 1}, {1, 4096}, {65'535, 2}, {12'345, 54'321}}) {
      expect_bytes({.key = "a", .range = {offset, length}, .pin = pin},
                   text.substr(offset, length));
      expect_bytes({.key = "a", .range = {offset, length}}, text.substr(offset, length));
    }
    expect_bytes({.key = "a", .range = {60'000, ByteRange::kToEnd}, .pin = pin},
                 text.substr(60'000));
    expect_bytes({.key = "a", .range = {60'000, ByteRange::kToEnd}}, text.substr(60'000));
  }

  void a_range_beyond_the_end_is_invalid() {
    const Pin pin = must_put("a", "0123456789");
    for (const ByteRange range :
         {ByteRange{0, 11}, ByteRange{10, 1}, ByteRange{9, 2}, ByteRange{11, ByteRange::kToEnd},
          ByteRange{1'000'000, 5}, ByteRange{5, ByteRange::kToEnd - 1}}) {
      expect_code({.key = "a", .range = range, .pin = pin}, Code::invalid);
      expect_code({.key = "a", .range = range}, Code::invalid);
    }
  }

  void an_empty_object_is_read_as_nothing() {
    const Pin pin = must_put("empty", "");
    expect_bytes({.key = "empty", .pin = pin}, "");
    expect_bytes({.key = "empty"}, "");
    expect_bytes({.key = "empty", .range = {0, 0}, .pin = pin}, "");
    const auto info = store().head("empty", {});
    ASSERT_TRUE(info.ok()) << info.error().to_string();
    EXPECT_EQ(info->size, 0U);
  }

  void a_length_of_zero_is_nothing() {
    const Pin pin = must_put("a", "0123456789");
    expect_bytes({.key = "a", .range = {3, 0}, .pin = pin}, "");
    expect_bytes({.key = "a", .range = {10, 0}, .pin = pin}, "");
    expect_bytes({.key = "a", .range = {10, ByteRange::kToEnd}, .pin = pin}, "");
  }

  void what_is_not_there_is_not_found() {
    must_put("dir/a", "x");
    for (const std::string key : {"b", "dir/b", "no/such", "di"}) {
      expect_code({.key = key}, Code::not_found);
      expect_code({.key = key, .range = {0, 4}}, Code::not_found);
      const auto info = store().head(key, {});
      ASSERT_FALSE(info.ok()) << key;
      EXPECT_EQ(info.error().code(), Code::not_found) << info.error().to_string();
      EXPECT_NE(info.error().to_string().find(key), std::string::npos)
          << "an error names its object: " << info.error().to_string();
    }
  }

  void a_replaced_object_is_changed_for_the_old_pin() {
    const Pin before = must_put("a", pattern(3, 5000));
    const Pin after = must_put("a", pattern(4, 5001));
    EXPECT_NE(before, after);
    expect_code({.key = "a", .pin = before}, Code::changed);
    expect_code({.key = "a", .range = {10, 10}, .pin = before}, Code::changed);
    expect_bytes({.key = "a", .pin = after}, pattern(4, 5001));
  }

  void list_gives_every_key_once() {
    const std::set<std::string> keys = {"a/1", "a/2", "a/b/3", "b", "ab/c", "a-/x"};
    for (const auto& key : keys) must_put(key, "content of " + key);
    expect_keys("", keys);
    expect_keys("a", {"a/1", "a/2", "a/b/3", "ab/c", "a-/x"});
    expect_keys("a/", {"a/1", "a/2", "a/b/3"});
    expect_keys("a/b", {"a/b/3"});
    expect_keys("b", {"b"});
    expect_keys("none", {});
    expect_keys("none/below", {});
    for (const auto& object : must_list("")) {
      EXPECT_EQ(object.size, object.key.size() + 11) << object.key;
      EXPECT_EQ(object.pin.size, object.size);
      EXPECT_FALSE(object.archived);
    }
  }

  void list_by_folder_stops_at_the_next_slash() {
    for (const std::string key : {"a/1", "a/2", "a/b/3", "c/4", "top"}) must_put(key, "x");
    expect_folders("", {"top"}, {"a/", "c/"});
    expect_folders("a/", {"a/1", "a/2"}, {"a/b/"});
    expect_folders("a", {}, {"a/"});
    expect_folders("t", {"top"}, {});
    expect_folders("a/b/", {"a/b/3"}, {});
  }

  void list_starts_after_a_key() {
    for (const std::string key : {"a/1", "a/2", "a/b/3", "b", "c/1"}) must_put(key, "x");
    const auto after = [&](const std::string& key, const std::string& prefix) {
      std::set<std::string> found;
      const auto done = store().list({.prefix = prefix, .start_after = key}, {},
                                     [&found](ListPage&& page) -> Result<bool> {
                                       for (auto& object : page.objects) found.insert(object.key);
                                       return true;
                                     });
      EXPECT_TRUE(done.ok()) << done.error().to_string();
      return found;
    };
    EXPECT_EQ(after("a/2", ""), (std::set<std::string>{"a/b/3", "b", "c/1"}));
    EXPECT_EQ(after("a/b", ""), (std::set<std::string>{"a/b/3", "b", "c/1"}));
    EXPECT_EQ(after("a/1", "a/"), (std::set<std::string>{"a/2", "a/b/3"}));
    EXPECT_EQ(after("z", ""), std::set<std::string>{});
  }

  void list_of_more_than_a_page_is_whole() {
    std::set<std::string> keys;
    for (int i = 0; i < 1203; ++i) {
      const std::string key = fmt::format("many/{:05}", i);
      must_put(key, "x");
      keys.insert(key);
    }
    expect_keys("many/", keys);
  }

  void list_ends_when_the_sink_says_so() {
    for (const std::string key : {"a", "b"}) must_put(key, "x");
    int pages = 0;
    const auto stopped = store().list({}, {}, [&pages](ListPage&&) -> Result<bool> {
      ++pages;
      return false;
    });
    EXPECT_TRUE(stopped.ok()) << stopped.error().to_string();
    EXPECT_EQ(pages, 1);
    const auto failed = store().list({}, {}, [](ListPage&&) -> Result<bool> {
      return Error(Code::exhausted, "the sink is full");
    });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code(), Code::exhausted);
  }

  void folder_markers_are_left_out() {
    must_put("dir/a", "x");
    const auto marker = put(store(), "dir/", {}, {});
    EXPECT_EQ(marker.ok(), world_.folder_markers);
    if (!marker.ok()) {
      EXPECT_EQ(marker.error().code(), Code::invalid) << marker.error().to_string();
    }
    expect_keys("", {"dir/a"});
  }

  void odd_keys_round_trip() {
    std::vector<std::string> keys = {
        "a+b",      "a%b",     "a%2Bb", "a b",  "a  b",    " a",          "a&b",     "a=b",
        "a?b",      "a#b",     "a'b",   "a\"b", "a;b",     "a:b",         "a@b",     "a$b",
        "a,b",      "a!(b)*",  "a<b>",  "a[b]", "a|b^`",   "~a",          "a.",      "...",
        ".a",       "s3:/x/y", "-rf",   "a{b}", "ü/é.jpg", "日本/猫.jpg", "e\u0301", "\U0001F600",
        "a\u200eb", "CON",     "A",     "a"};
    if (world_.any_slashes) {
      for (const char* key : {"x//y", "x///z", "/w", "x/./y", "x/../y", "../v"})
        keys.emplace_back(key);
    }
    if (world_.backslashes) keys.emplace_back("a\\b");
    if (world_.key_beside_folder) keys.emplace_back("a/b");
    if (world_.any_bytes) keys.emplace_back("a\xff\xfe");
    if (world_.control_characters) {
      for (const char* key : {"a\tb", "a\nb", "a\rb", "a\x7f"}) keys.emplace_back(key);
    }
    for (const auto& key : keys) {
      const Pin pin = must_put(key, "content of " + key);
      expect_bytes({.key = key, .pin = pin}, "content of " + key);
      const auto info = store().head(key, {});
      EXPECT_TRUE(info.ok()) << info.error().to_string();
    }
    expect_keys("", {keys.begin(), keys.end()});
    expect_keys("a+", {"a+b"});
    expect_keys("a%2", {"a%2Bb"});
    expect_keys("日本/", {"日本/猫.jpg"});
    for (const auto& key : keys) EXPECT_TRUE(store().remove(key, {}).ok()) << key;
    expect_keys("", {});
  }

  void removed_is_not_found() {
    must_put("a", "x");
    const auto removed = store().remove("a", {});
    ASSERT_TRUE(removed.ok()) << removed.error().to_string();
    expect_code({.key = "a"}, Code::not_found);
    expect_keys("", {});
  }

  void a_writer_that_does_not_finish_leaves_the_old_object() {
    must_put("a", "old");
    for (const std::string key : {"a", "dir/new"}) {
      auto writer = store().create(key, {});
      ASSERT_TRUE(writer.ok()) << writer.error().to_string();
      ASSERT_TRUE((*writer)->append(as_byte_span(pattern(5, 100'000))).ok());
    }
    expect_bytes({.key = "a"}, "old");
    expect_code({.key = "dir/new"}, Code::not_found);
    expect_keys("", {"a"});
  }

  void a_writer_shows_nothing_before_it_finishes() {
    auto writer = store().create("a", {});
    ASSERT_TRUE(writer.ok()) << writer.error().to_string();
    std::string all;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const std::string piece = pattern(i, 300'000 + i);
      ASSERT_TRUE((*writer)->append(as_byte_span(piece)).ok());
      all += piece;
    }
    expect_code({.key = "a"}, Code::not_found);
    expect_keys("", {});
    const auto pin = (*writer)->finish();
    ASSERT_TRUE(pin.ok()) << pin.error().to_string();
    EXPECT_EQ(pin->size, all.size());
    expect_bytes({.key = "a", .pin = *pin}, all);
  }

  void hundreds_of_reads_in_flight_complete_once_each() {
    constexpr int kObjects = 20;
    constexpr int kReads = 200;
    std::vector<std::string> texts;
    for (int i = 0; i < kObjects; ++i) {
      texts.push_back(pattern(static_cast<std::uint64_t>(i), 10'000 + static_cast<std::size_t>(i)));
      must_put(fmt::format("o/{}", i), texts.back());
    }
    std::vector<std::atomic<int>> calls(kReads);
    std::atomic<int> wrong{0};
    std::latch all(kReads);
    for (int i = 0; i < kReads; ++i) {
      const auto object = static_cast<std::size_t>(i % kObjects);
      const auto offset = static_cast<std::size_t>(i) * 7;
      store().read({.key = fmt::format("o/{}", object), .range = {offset, 1000}},
                   [&, i, object, offset](Result<ReadResult> result) {
                     const bool right =
                         result.ok() && result->bytes.text() == texts[object].substr(offset, 1000);
                     if (!right) ++wrong;
                     if (calls[static_cast<std::size_t>(i)]++ == 0) all.count_down();
                   });
    }
    all.wait();
    EXPECT_EQ(wrong, 0);
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }

  void many_threads_may_call_at_once() {
    must_put("a", pattern(7, 10'000));
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      threads.reserve(4);
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (int i = 0; i < 10; ++i) {
            const auto read = read_now(store(), {.key = "a", .range = {100, 100}});
            if (!read.ok() || read->bytes.text() != pattern(7, 10'000).substr(100, 100)) ++wrong;
            if (!store().head("a", {}).ok()) ++wrong;
            if (!put(store(), fmt::format("t{}/{}", t, i), as_byte_span("x"), {}).ok()) ++wrong;
          }
        });
      }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(must_list("t").size(), 40U);
  }

  void a_stop_that_was_asked_for_is_cancelled() {
    must_put("a", "x");
    std::stop_source stop;
    stop.request_stop();
    expect_code({.key = "a", .stop = stop.get_token()}, Code::cancelled);
    expect_bytes({.key = "a"}, "x");
  }

  void a_stop_in_flight_still_completes_once() {
    must_put("a", pattern(8, 3'000'000));
    for (int round = 0; round < 5; ++round) {
      std::stop_source stop;
      std::atomic<int> calls{0};
      std::latch all(20);
      for (int i = 0; i < 20; ++i) {
        store().read({.key = "a", .stop = stop.get_token()}, [&](const Result<ReadResult>& result) {
          if (!result.ok() && result.error().code() != Code::cancelled) calls += 1000;
          ++calls;
          all.count_down();
        });
      }
      stop.request_stop();
      all.wait();
      EXPECT_EQ(calls, 20);
    }
  }

  void destruction_completes_what_is_in_flight() {
    must_put("a", pattern(9, 1'000'000));
    std::atomic<int> calls{0};
    for (int i = 0; i < 100; ++i) {
      store().read({.key = "a"}, [&calls](const Result<ReadResult>&) { ++calls; });
    }
    made_.store.reset();
    EXPECT_EQ(calls, 100);
  }

  void a_hint_changes_nothing() {
    const Pin pin = must_put("a", "0123456789");
    const std::vector<Wanted> wanted = {{.key = "a", .range = {2, 3}, .pin = pin},
                                        {.key = "gone", .range = {0, 9}, .pin = pin}};
    store().hint(wanted);
    expect_bytes({.key = "a", .range = {2, 3}, .pin = pin}, "234");
    expect_code({.key = "gone", .range = {0, 9}}, Code::not_found);
  }

  void bytes_from_the_origin_are_counted() {
    must_put("a", pattern(10, 5000));
    const auto before = context_.metrics->get(Metric::bytes_origin);
    expect_bytes({.key = "a", .range = {1000, 3000}}, pattern(10, 5000).substr(1000, 3000));
    const auto after = context_.metrics->get(Metric::bytes_origin);
    EXPECT_TRUE(after - before == 0 || after - before >= 3000) << after - before;
  }

 private:
  Store& store() { return *made_.store; }

  Pin must_put(const std::string& key, const std::string& text) {
    const auto pin = put(store(), key, as_byte_span(text), {});
    EXPECT_TRUE(pin.ok()) << pin.error().to_string();
    return pin.ok() ? *pin : Pin{};
  }
  void expect_bytes(ReadRequest request, const std::string& wanted) {
    const std::string what =
        fmt::format("{} @ {}+{}", request.key, request.range.offset, request.range.length);
    const auto got = read_now(store(), std::move(request));
    ASSERT_TRUE(got.ok()) << what << ": " << got.error().to_string();
    EXPECT_TRUE(got->bytes.text() == wanted)
        << what << ": " << got->bytes.size() << " bytes, wanted " << wanted.size();
  }
  void expect_code(ReadRequest request, Code code) {
    const std::string what = request.key;
    const auto got = read_now(store(), std::move(request));
    ASSERT_FALSE(got.ok()) << what;
    EXPECT_EQ(got.error().code(), code) << got.error().to_string();
    EXPECT_NE(got.error().to_string().find(what), std::string::npos) << got.error().to_string();
  }
  static void expect_same(const Pin& one, const Pin& other) {
    EXPECT_EQ(one.etag, other.etag);
    EXPECT_EQ(one.size, other.size);
  }
  std::vector<ObjectInfo> must_list(const std::string& prefix) {
    auto listed = list_all(store(), prefix, {});
    EXPECT_TRUE(listed.ok()) << listed.error().to_string();
    return listed.ok() ? *std::move(listed) : std::vector<ObjectInfo>{};
  }
  void expect_keys(const std::string& prefix, const std::set<std::string>& wanted) {
    const auto listed = must_list(prefix);
    std::set<std::string> found;
    for (const auto& object : listed) found.insert(object.key);
    EXPECT_EQ(found, wanted) << "prefix '" << prefix << "'";
    EXPECT_EQ(listed.size(), found.size()) << "a key came twice";
  }
  void expect_folders(const std::string& prefix, const std::set<std::string>& objects,
                      const std::set<std::string>& folders) {
    std::multiset<std::string> found_objects;
    std::multiset<std::string> found_folders;
    const auto done = store().list({.prefix = prefix, .by_folder = true}, {},
                                   [&](ListPage&& page) -> Result<bool> {
                                     for (auto& o : page.objects) found_objects.insert(o.key);
                                     for (auto& f : page.folders) found_folders.insert(f);
                                     return true;
                                   });
    EXPECT_TRUE(done.ok()) << done.error().to_string();
    EXPECT_EQ(found_objects, (std::multiset<std::string>(objects.begin(), objects.end())));
    EXPECT_EQ(found_folders, (std::multiset<std::string>(folders.begin(), folders.end())));
  }

  const StoreWorld& world_;
  Body body_ = nullptr;
  Context context_;
  StoreWorld::Made made_;
};

struct Promise {
  const char* name;
  Conformance::Body body;
};

constexpr Promise kPromises[] = {
    {"PutThenReadGivesTheBytes", &Conformance::put_then_read_gives_the_bytes},
    {"HeadGivesSizeAndTheSamePinAsReadAndList",
     &Conformance::head_gives_size_and_the_same_pin_as_read_and_list},
    {"RangesGiveExactlyTheirBytes", &Conformance::ranges_give_exactly_their_bytes},
    {"ARangeBeyondTheEndIsInvalid", &Conformance::a_range_beyond_the_end_is_invalid},
    {"AnEmptyObjectIsReadAsNothing", &Conformance::an_empty_object_is_read_as_nothing},
    {"ALengthOfZeroIsNothing", &Conformance::a_length_of_zero_is_nothing},
    {"WhatIsNotThereIsNotFound", &Conformance::what_is_not_there_is_not_found},
    {"AReplacedObjectIsChangedForTheOldPin",
     &Conformance::a_replaced_object_is_changed_for_the_old_pin},
    {"ListGivesEveryKeyOnce", &Conformance::list_gives_every_key_once},
    {"ListByFolderStopsAtTheNextSlash", &Conformance::list_by_folder_stops_at_the_next_slash},
    {"ListStartsAfterAKey", &Conformance::list_starts_after_a_key},
    {"ListOfMoreThanAPageIsWhole", &Conformance::list_of_more_than_a_page_is_whole},
    {"ListEndsWhenTheSinkSaysSo", &Conformance::list_ends_when_the_sink_says_so},
    {"FolderMarkersAreLeftOut", &Conformance::folder_markers_are_left_out},
    {"OddKeysRoundTrip", &Conformance::odd_keys_round_trip},
    {"RemovedIsNotFound", &Conformance::removed_is_not_found},
    {"AWriterThatDoesNotFinishLeavesTheOldObject",
     &Conformance::a_writer_that_does_not_finish_leaves_the_old_object},
    {"AWriterShowsNothingBeforeItFinishes",
     &Conformance::a_writer_shows_nothing_before_it_finishes},
    {"HundredsOfReadsInFlightCompleteOnceEach",
     &Conformance::hundreds_of_reads_in_flight_complete_once_each},
    {"ManyThreadsMayCallAtOnce", &Conformance::many_threads_may_call_at_once},
    {"AStopThatWasAskedForIsCancelled", &Conformance::a_stop_that_was_asked_for_is_cancelled},
    {"AStopInFlightStillCompletesOnce", &Conformance::a_stop_in_flight_still_completes_once},
    {"DestructionCompletesWhatIsInFlight", &Conformance::destruction_completes_what_is_in_flight},
    {"AHintChangesNothing", &Conformance::a_hint_changes_nothing},
    {"BytesFromTheOriginAreCounted", &Conformance::bytes_from_the_origin_are_counted},
};

}  // namespace

bool register_store_conformance(const StoreWorld& world) {
  static auto* const worlds = new std::vector<std::unique_ptr<StoreWorld>>;  // as long as gtest
  worlds->push_back(std::make_unique<StoreWorld>(world));
  const StoreWorld* kept = worlds->back().get();
  for (const Promise& promise : kPromises) {
    ::testing::RegisterTest(("StoreConformance_" + world.name).c_str(), promise.name, nullptr,
                            nullptr, __FILE__, __LINE__,
                            [kept, body = promise.body]() -> ::testing::Test* {
                              auto* test = new Conformance(*kept);
                              test->set_body(body);
                              return test;
                            });
  }
  return true;
}

}  // namespace headrace::testing
