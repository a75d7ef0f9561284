// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/answer.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::http {
namespace {

using State = AnswerReader::State;

struct Seen final : AnswerReader::Sink {
  std::string headers;
  std::string body;
  void on_header(int /*status*/, std::string_view name, std::string_view value) override {
    headers.append(name).append("=").append(value).append(";");
  }
  bool on_body(int /*status*/, ByteSpan bytes) override {
    body += as_text(bytes);
    return true;
  }
};

struct Read {
  State state = State::reading;
  Seen seen;
  int status = 0;
  bool keeps = false;
};

/// In pieces of so many bytes; then the connection ends, if it is not whole by then.
void read(Read& to, std::string text, std::size_t piece, bool ends = false,
          bool head_only = false) {
  AnswerReader reader(to.seen, head_only);
  for (std::size_t at = 0; at < text.size() && to.state == State::reading; at += piece) {
    const std::size_t size = std::min(piece, text.size() - at);
    to.state = reader.take({&text[at], size});
  }
  if (ends && to.state == State::reading) to.state = reader.ended();
  to.status = reader.status();
  to.keeps = reader.keeps_connection();
}

TEST(Answer, IsTheSameInPiecesOfAnySize) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial Content\r\nETag:  \"a b\" \r\n"
      "CONTENT-length: 10\r\nx-empty:\r\n\r\n0123456789";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    Read got;
    read(got, text, piece);
    EXPECT_EQ(got.state, State::done) << piece;
    EXPECT_EQ(got.status, 206);
    EXPECT_EQ(got.seen.headers, "etag=\"a b\";content-length=10;x-empty=;");
    EXPECT_EQ(got.seen.body, "0123456789");
    EXPECT_TRUE(got.keeps);
  }
}

TEST(Answer, InChunks) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3\r\nabc\r\nA;name=x\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    Read got;
    read(got, text, piece);
    EXPECT_EQ(got.state, State::done) << piece;
    EXPECT_EQ(got.seen.body, "abc0123456789");
    EXPECT_TRUE(got.keeps);
  }
}

TEST(Answer, WithoutALengthEndsWithTheConnection) {
  Read got;
  read(got, "HTTP/1.1 200 OK\r\n\r\nabc", 100, true);
  EXPECT_EQ(got.state, State::done);
  EXPECT_EQ(got.seen.body, "abc");
  EXPECT_FALSE(got.keeps);
}

TEST(Answer, WithoutABody) {
  for (const char* text :
       {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 204 No Content\n\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n"}) {
    Read got;
    read(got, text, 1000);
    EXPECT_EQ(got.state, State::done) << text;
    EXPECT_TRUE(got.keeps);
  }
}

TEST(Answer, ToAHeadHasNoBodyWhateverItTells) {
  Read got;
  read(got, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 1000, false, true);
  EXPECT_EQ(got.state, State::done);
  EXPECT_EQ(got.seen.headers, "content-length=5;");
  EXPECT_TRUE(got.keeps);
}

TEST(Answer, TheConnectionIsKeptAsTheServerSays) {
  const auto keeps = [](const std::string& version, const std::string& header) {
    Read got;
    read(got, version + " 200 OK\r\n" + header + "content-length: 1\r\n\r\nx", 1000);
    EXPECT_EQ(got.state, State::done);
    return got.keeps;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: x, Close\r\n"));
  Read got;
  read(got, "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxy", 1000);
  EXPECT_EQ(got.state, State::done);
  EXPECT_FALSE(got.keeps) << "more came than was said";
}

TEST(Answer, WhatIsNoneIsBad) {
  for (const std::string text :
       {"FTP 200 OK\r\n", "HTTP/2 200\r\n", "HTTP/1.1 2x0 OK\r\n", "HTTP/1.1 99 \r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: empty\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n"}) {
    Read got;
    read(got, text, 7);
    EXPECT_EQ(got.state, State::bad) << text;
  }
  Read endless;
  read(endless, "HTTP/1.1 200 OK\r\nx: " + std::string(100'000, 'x'), 4096);
  EXPECT_EQ(endless.state, State::bad) << "a head without end";
  Read cut;
  read(cut, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", 1000, true);
  EXPECT_EQ(cut.state, State::bad);
  EXPECT_FALSE(cut.keeps);
}

}  // namespace
}  // namespace headrace::http
