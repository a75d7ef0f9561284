// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/http_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <tuple>

namespace headrace::testing {

/// A connection, as it is or under TLS.
class Wire {
 public:
  Wire(int fd, TlsIdentity* tls) : fd_(fd), tls_(tls == nullptr ? nullptr : tls->accept(fd)) {
    broken_ = tls != nullptr && tls_ == nullptr;
  }
  int fd() const { return fd_; }
  /// 0 or less: the end.
  long receive(std::string& into) {
    if (broken_) return -1;
    if (tls_ != nullptr) return tls_->read(into.data(), into.size());
    return ::recv(fd_, into.data(), into.size(), 0);
  }
  bool send(std::string_view text) {
    while (!text.empty()) {
      const long sent = tls_ != nullptr ? tls_->write(text.data(), text.size())
                                        : ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  const int fd_;
  const std::unique_ptr<TlsConnection> tls_;
  bool broken_ = false;
};

namespace {

/// What a socket brings, until a request is whole.
class Incoming {
 public:
  explicit Incoming(Wire& wire) : wire_(wire) {}

  /// Up to and with `end`; false at the end of the connection.
  bool until(std::string_view end, std::string& text) {
    for (;;) {
      const auto at = buffer_.find(end);
      if (at != std::string::npos) {
        text = buffer_.substr(0, at + end.size());
        buffer_.erase(0, at + end.size());
        return true;
      }
      if (!more()) return false;
    }
  }
  bool exactly(std::size_t size, std::string& text) {
    while (buffer_.size() < size) {
      if (!more()) return false;
    }
    text = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return true;
  }

 private:
  bool more() {
    std::string piece(64 << 10U, '\0');
    const auto got = wire_.receive(piece);
    if (got <= 0) return false;
    buffer_.append(piece, 0, static_cast<std::size_t>(got));
    return true;
  }
  Wire& wire_;
  std::string buffer_;
};

bool read_request(Incoming& incoming, HttpSeen& seen) {
  std::string head;
  if (!incoming.until("\r\n\r\n", head)) return false;
  const auto line_end = head.find("\r\n");
  const auto first = head.find(' ');
  const auto second = head.find(' ', first + 1);
  seen.method = head.substr(0, first);
  seen.target = head.substr(first + 1, second - first - 1);
  for (auto at = line_end + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(':', at);
    std::string name = head.substr(at, colon - at);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto value = head.find_first_not_of(' ', colon + 1);
    seen.headers[name] = value < end ? head.substr(value, end - value) : "";
    at = end + 2;
  }
  const auto length = seen.headers.find("content-length");
  if (length == seen.headers.end()) return true;
  return incoming.exactly(std::strtoull(length->second.c_str(), nullptr, 10), seen.body);
}

}  // namespace

HttpServer::HttpServer(Handler handler, TlsIdentity* tls)
    : handler_(std::move(handler)), tls_(tls) {
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  void* raw = &address;
  auto* name = static_cast<sockaddr*>(raw);
  if (::bind(listener_.get(), name, size) != 0 || ::listen(listener_.get(), 256) != 0 ||
      ::getsockname(listener_.get(), name, &size) != 0) {
    throw std::runtime_error("no port for the test server");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  std::list<Connection> open;
  {
    const MutexLock lock(mutex_);
    open.swap(open_);
    stopped_.notify_all();
  }
  for (auto& connection : open) ::shutdown(connection.fd.get(), SHUT_RDWR);
  for (auto& connection : open) connection.thread.join();
}

void HttpServer::accept_all() {
  for (;;) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (stopping_) return;
    if (!fd.valid()) continue;
    ++connections_;
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const int raw = fd.get();
    const MutexLock lock(mutex_);
    open_.push_back({std::move(fd), std::jthread([this, raw] { serve(raw); })});
  }
}

void HttpServer::serve(int fd) {
  Wire wire(fd, tls_);
  Incoming incoming(wire);
  HttpSeen seen;
  while (read_request(incoming, seen) && answer(wire, handler_(seen))) seen = {};
  ::shutdown(fd, SHUT_RDWR);
}

bool HttpServer::answer(Wire& wire, const HttpAnswer& answer) {
  const int fd = wire.fd();
  using End = HttpAnswer::End;
  if (answer.delay > Nanos(0)) real_clock().sleep_for(answer.delay, {});
  if (!answer.nothing) {
    std::string head = fmt::format("HTTP/1.1 {} x\r\n", answer.status);
    for (const auto& [name, value] : answer.headers) head += name + ": " + value + "\r\n";
    head += answer.chunked ? "Transfer-Encoding: chunked\r\n"
                           : fmt::format("Content-Length: {}\r\n", answer.body.size());
    std::string_view body = std::string_view(answer.body).substr(0, answer.sent);
    if (answer.no_body) body = {};
    if (!wire.send(head + "\r\n")) return false;
    if (!answer.chunked && !wire.send(body)) return false;
    if (answer.chunked) {
      const std::string last = answer.end == End::proper ? "0\r\n\r\n" : "";
      const std::string chunk =
          body.empty() ? "" : fmt::format("{:x}\r\n{}\r\n", body.size(), body);
      if (!wire.send(chunk + last)) return false;
    }
  }
  switch (answer.end) {
    case End::proper:
      return true;
    case End::close:
      return false;
    case End::reset: {
      // Let what was sent arrive first: a reset throws away what the peer has not read.
      real_clock().sleep_for(std::chrono::milliseconds(20), {});
      const linger now{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      sockaddr nowhere{};
      nowhere.sa_family = AF_UNSPEC;
      std::ignore =
          ::connect(fd, &nowhere, sizeof nowhere);  // aborts the connection, the descriptor stays
      return false;
    }
    case End::hang: {
      MutexLock lock(mutex_);
      while (!stopping_) {
        lock.wait_until(stopped_, std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
      }
      return false;
    }
  }
  return false;
}

}  // namespace headrace::testing
