// SPDX-License-Identifier: Apache-2.0
// Against a real server: the conformance suite, and what only a real one can tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headrace/storage/open_store.h"
#include "headrace/storage/s3/call.h"
#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/real_s3.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::RealS3;

const RealS3& server() { return RealS3::get(HEADRACE_SOURCE_DIR); }

const bool kRegistered = testing::register_store_conformance(
    {.name = "s3",
     .make = [](const Context& context) { return server().fresh_world(context); },
     // SeaweedFS keeps objects in folders of its own file system, where '\\' is a '/'.
     .any_slashes = false,
     .backslashes = false,
     .any_bytes = false});

class RealServer : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& prefix, const S3Options& options) {
    auto store = make_s3_store(server().bucket(), prefix, context_, options);
    EXPECT_TRUE(store.ok()) << store.error().to_string();
    return *std::move(store);
  }
  Context context_;
  const std::string prefix_ = server().fresh_prefix();
};

TEST_F(RealServer, ALargeObjectGoesUpAndComesDownInParts) {
  ASSERT_TRUE(kRegistered);
  const auto store = open(prefix_, server().options());
  const std::string text = testing::pattern(1, (std::size_t{30} << 20U) + 12'345);
  const auto pin = put(*store, "large", as_byte_span(text), {});
  ASSERT_TRUE(pin.ok()) << pin.error().to_string();
  const auto before = context_.metrics->get(Metric::requests);
  const auto whole = read_now(*store, {.key = "large", .pin = *pin});
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_TRUE(whole->bytes.text() == text);
  EXPECT_EQ(context_.metrics->get(Metric::requests) - before, 4U);
  const auto most =
      read_now(*store, {.key = "large", .range = {1'000'001, 20'000'000}, .pin = *pin});
  ASSERT_TRUE(most.ok()) << most.error().to_string();
  EXPECT_TRUE(most->bytes.text() == text.substr(1'000'001, 20'000'000));
  ASSERT_TRUE(put(*store, "large", as_byte_span(testing::pattern(2, text.size())), {}).ok());
  EXPECT_EQ(read_now(*store, {.key = "large", .pin = *pin}).error().code(), Code::changed);
}

TEST_F(RealServer, AWholeObjectOfKnownSizeIsOneRequestWithoutARange) {
  const auto store = open(prefix_, server().options());
  const auto pin = put(*store, "a", as_byte_span("0123456789"), {});
  ASSERT_TRUE(pin.ok());
  const auto before = context_.metrics->snapshot();
  ASSERT_TRUE(read_now(*store, {.key = "a", .pin = *pin}).ok());
  EXPECT_EQ(context_.metrics->get(Metric::requests) - before[std::size_t(Metric::requests)], 1U);
  EXPECT_EQ(context_.metrics->get(Metric::bytes_origin) - before[std::size_t(Metric::bytes_origin)],
            10U);
}

TEST_F(RealServer, WrongKeysAreDeniedAndNamed) {
  auto options = server().options();
  options.settings->credentials.access_key = "AKWRONG";
  auto listed = list_all(*open(prefix_, options), "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::denied);
  EXPECT_THAT(listed.error().to_string(), HasSubstr("AKWRONG"));
  EXPECT_THAT(listed.error().to_string(), HasSubstr("check AWS_ACCESS_KEY_ID"));

  options = server().options();
  options.settings->credentials.secret_key = "wrong";
  listed = list_all(*open(prefix_, options), "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::denied);
  EXPECT_THAT(listed.error().to_string(), HasSubstr("check AWS_SECRET_ACCESS_KEY"));

  options.settings->credentials = {};
  listed = list_all(*open(prefix_, options), "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::denied);
  EXPECT_THAT(listed.error().to_string(), HasSubstr("AWS_PROFILE"));
}

TEST_F(RealServer, AMissingBucketIsNamed) {
  auto store = make_s3_store("no-such-bucket", "", context_, server().options());
  ASSERT_TRUE(store.ok());
  const auto listed = list_all(**store, "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::not_found);
  EXPECT_THAT(listed.error().to_string(), HasSubstr("no bucket no-such-bucket"));
}

TEST_F(RealServer, AnEmptyPrefixListsNothing) {
  const auto listed = list_all(*open(prefix_, server().options()), "", {});
  ASSERT_TRUE(listed.ok()) << listed.error().to_string();
  EXPECT_TRUE(listed->empty());
}

TEST_F(RealServer, AUriNamesAFolderOrAnObject) {
  const auto store = open(prefix_, server().options());
  ASSERT_TRUE(put(*store, "dir/x.rec", as_byte_span("records"), {}).ok());
  ASSERT_TRUE(put(*store, "dir/x.idx", as_byte_span("index"), {}).ok());
  const auto keys = [&](const std::string& path) {
    std::string text;
    const auto opened = open_store(*parse_uri("s3://" + server().bucket() + "/" + path), context_,
                                   {.s3 = server().options()});
    if (!opened.ok()) return opened.error().to_string();
    const auto listed = list_all(**opened, "", {});
    if (!listed.ok()) return listed.error().to_string();
    for (const auto& object : *listed) text += object.key + " ";
    return text;
  };
  EXPECT_EQ(keys(prefix_), "dir/x.idx dir/x.rec ");
  EXPECT_EQ(keys(prefix_ + "dir"), "x.idx x.rec ");
  EXPECT_EQ(keys(prefix_ + "dir/x.rec"), "x.rec ");
  const auto opened =
      open_store(*parse_uri("s3://" + server().bucket() + "/" + prefix_ + "dir/x.rec"), context_,
                 {.s3 = server().options()});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(read_now(**opened, {.key = "x.idx"})->bytes.text(), "index");
}

TEST_F(RealServer, AnUploadThatIsGivenUpLeavesNoParts) {
  const auto store = open(prefix_, server().options());
  {
    auto writer = store->create("large", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->append(as_byte_span(testing::pattern(1, std::size_t{20} << 20U))).ok());
  }
  auto service = s3::Service::make(server().bucket(), context_, server().options(), {});
  ASSERT_TRUE(service.ok());
  const auto uploads = s3::call_now(
      **service, {.query = {{"uploads", ""}, {"prefix", prefix_}}, .place = "uploads"}, {});
  ASSERT_TRUE(uploads.ok()) << uploads.error().to_string();
  EXPECT_THAT(uploads->body, ::testing::Not(HasSubstr("<UploadId>")));
}

TEST_F(RealServer, AStoreThatWasOpenedBeforeAForkSaysSo) {
  const auto store = open(prefix_, server().options());
  ASSERT_TRUE(put(*store, "a", as_byte_span("x"), {}).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto read = read_now(*store, {.key = "a"});
    const bool said = !read.ok() && read.error().code() == Code::invalid &&
                      read.error().to_string().find("fork") != std::string::npos &&
                      !store->head("a", {}).ok() && !store->create("a", {}).ok();
    const auto own = open(prefix_, server().options());
    const auto text = read_now(*own, {.key = "a"});
    ::_exit(!said ? 1 : text.ok() && text->bytes.text() == "x" ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(read_now(*store, {.key = "a"}).ok());
}

}  // namespace
}  // namespace headrace
