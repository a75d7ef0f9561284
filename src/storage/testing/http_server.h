// SPDX-License-Identifier: Apache-2.0
/// \file A small HTTP/1.1 server on 127.0.0.1 whose answers a test makes, bad ones too.
///
/// Thread-safe. One thread a connection, kept alive. The handler is called from all of them.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "headrace/base/clock.h"
#include "headrace/base/mutex.h"
#include "headrace/base/unique_fd.h"
#include "headrace/storage/testing/tls_identity.h"

namespace headrace::testing {

struct HttpSeen {
  std::string method;
  std::string target;                          ///< as it came
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool no_body = false;  ///< HEAD: the length is told, the body is not sent
  bool chunked = false;  ///< no Content-Length
  // Faults:
  enum class End { proper, close, reset, hang };
  End end = End::proper;  ///< after `sent` bytes of the body; `hang`: until the server stops
  std::size_t sent = std::string::npos;
  bool nothing = false;  ///< not even a status line before that end
  Nanos delay{0};        ///< before the first byte
};

class Wire;

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpSeen&)>;
  /// Listens on a free port; with an identity by TLS, which it must outlive.
  explicit HttpServer(Handler handler, TlsIdentity* tls = nullptr);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  int port() const { return port_; }
  /// How many connections were taken so far.
  int connections() const { return connections_; }

 private:
  struct Connection {
    UniqueFd fd;
    std::jthread thread;
  };
  void accept_all();
  void serve(int fd);
  bool answer(Wire& wire, const HttpAnswer& answer);

  const Handler handler_;
  TlsIdentity* const tls_;
  UniqueFd listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  Condition stopped_;
  std::list<Connection> open_ HEADRACE_GUARDED_BY(mutex_);
  std::jthread acceptor_;
};

}  // namespace headrace::testing
