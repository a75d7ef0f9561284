// SPDX-License-Identifier: Apache-2.0
/// \file A certificate of one's own for 127.0.0.1 and localhost, made anew for each test server.
///
/// Thread-safe.
#pragma once

#include <memory>
#include <string>

namespace headrace::testing {

/// One connection under TLS; one thread at a time.
class TlsConnection {
 public:
  TlsConnection() = default;
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;
  virtual ~TlsConnection() = default;
  /// 0 or less: the end.
  virtual long read(char* into, std::size_t size) = 0;
  virtual long write(const char* from, std::size_t size) = 0;
};

class TlsIdentity {
 public:
  TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;
  ~TlsIdentity();

  /// What a client must trust, in PEM.
  std::string certificate() const;
  /// Shakes hands on a connected socket; null if the client does not want to.
  std::unique_ptr<TlsConnection> accept(int fd);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace headrace::testing
