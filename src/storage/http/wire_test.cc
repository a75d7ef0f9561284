// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "headrace/storage/testing/pattern.h"

namespace headrace::http {
namespace {

/// Knows from the first byte on where the body belongs, and counts what must be copied there.
class Caller final : public Exchange {
 public:
  explicit Caller(std::size_t size) : memory(size) {}

  Request begin() override { return {}; }
  void header(int /*status*/, std::string_view /*name*/, std::string_view /*value*/) override {}
  std::span<std::byte> destination(int /*status*/) override {
    return filled == 0 ? std::span<std::byte>{} : std::span(memory).subspan(filled);
  }
  bool body(int /*status*/, ByteSpan bytes) override {
    if (bytes.data() != memory.data() + filled) {
      std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(filled));
      copied += bytes.size();
    }
    filled += bytes.size();
    return true;
  }
  std::optional<Nanos> end(const Outcome& /*outcome*/) override { return std::nullopt; }
  void cancelled() override {}

  std::vector<std::byte> memory;
  std::size_t filled = 0;
  std::size_t copied = 0;
};

class WireTest : public ::testing::Test {
 protected:
  WireTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    wire_ = std::make_unique<Wire>(make_plain_channel(UniqueFd(ends[0])), "http://h:80");
    server_ = UniqueFd(ends[1]);
  }
  Wire::Progress start(Caller& caller, const std::string& url = "http://h:80/b/k?x=1") {
    request_ = {.url = url, .headers = {"range: bytes=0-9"}};
    return wire_->start(request_, caller, {}, scratch_);
  }
  /// The server sends it, as it is taken.
  Wire::Progress answer(std::string_view text) {
    auto progress = Wire::Progress::wait_read;
    while (!text.empty() && progress != Wire::Progress::over) {
      const auto sent = ::send(server_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
      progress = wire_->go_on({}, scratch_);
    }
    return progress;
  }
  std::string asked() {
    std::array<char, 4096> text{};
    const auto size = ::recv(server_.get(), text.data(), text.size(), 0);
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  std::unique_ptr<Wire> wire_;
  UniqueFd server_;
  Request request_;
  std::vector<char> scratch_ = std::vector<char>(16 << 10U);
};

TEST_F(WireTest, AsksInAsFewWordsAsCanBe) {
  Caller caller(0);
  EXPECT_EQ(start(caller), Wire::Progress::wait_read);
  EXPECT_EQ(asked(),
            "GET /b/k?x=1 HTTP/1.1\r\nHost: h\r\nUser-Agent: headrace\r\nrange: bytes=0-9\r\n\r\n");
}

TEST_F(WireTest, ABodyGoesStraightToItsPlace) {
  constexpr std::size_t kSize = std::size_t{4} << 20U;
  const std::string body = testing::pattern(3, kSize);
  Caller caller(kSize);
  start(caller);
  const auto head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n";
  EXPECT_EQ(answer(head + body), Wire::Progress::over);
  EXPECT_EQ(wire_->outcome().kind, Outcome::Kind::answered);
  EXPECT_TRUE(as_text(caller.memory) == body);
  EXPECT_LE(caller.copied, scratch_.size()) << "but for what came with the head";
  EXPECT_TRUE(wire_->can_be_kept());
}

TEST_F(WireTest, OneAnswerAfterAnother) {
  for (int i = 0; i < 3; ++i) {
    Caller caller(5);
    start(caller);
    EXPECT_FALSE(asked().empty());
    EXPECT_EQ(answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), Wire::Progress::over);
    EXPECT_EQ(as_text(caller.memory), "hello");
    EXPECT_TRUE(wire_->can_be_kept());
    EXPECT_TRUE(wire_->is_quiet());
  }
}

TEST_F(WireTest, AKeptConnectionThatIsClosedIsStaleAndAFirstOneIsNot) {
  Caller caller(5);
  start(caller);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  server_ = {};
  EXPECT_FALSE(wire_->is_quiet());
  EXPECT_EQ(start(caller), Wire::Progress::over);
  EXPECT_TRUE(wire_->was_stale());
  EXPECT_FALSE(wire_->can_be_kept());
}

TEST_F(WireTest, AFirstConnectionThatIsClosedIsBroken) {
  Caller caller(5);
  start(caller);
  asked();
  server_ = {};
  EXPECT_EQ(wire_->go_on({}, scratch_), Wire::Progress::over);
  EXPECT_FALSE(wire_->was_stale());
  EXPECT_EQ(wire_->outcome().kind, Outcome::Kind::broken);
}

TEST_F(WireTest, AnAnswerThatHasBegunIsNeverStale) {
  Caller caller(5), again(5);
  start(caller);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  start(again);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
  server_ = {};
  EXPECT_EQ(wire_->go_on({}, scratch_), Wire::Progress::over);
  EXPECT_FALSE(wire_->was_stale());
  EXPECT_EQ(wire_->outcome().kind, Outcome::Kind::broken);
  EXPECT_FALSE(wire_->can_be_kept());
}

TEST(Server, IsWhatStandsBeforeThePath) {
  EXPECT_EQ(server_of("http://host:1/b/k?x"), "http://host:1");
  EXPECT_EQ(server_of("https://host?list-type=2"), "https://host");
  EXPECT_EQ(server_of("http://[::1]:9/a://b"), "http://[::1]:9");
}

}  // namespace
}  // namespace headrace::http
