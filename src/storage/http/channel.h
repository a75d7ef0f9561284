// SPDX-License-Identifier: Apache-2.0
/// \file A connected socket as bytes in and out, plain or by TLS.
///
/// Not thread-safe. Nothing waits: what cannot go on says what the socket must be ready for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace::http {

/// What to do where a certificate is not trusted.
inline constexpr std::string_view kTrustRemedy =
    "for a private certificate authority set AWS_CA_BUNDLE to its file";

class Channel {
 public:
  enum class Io {
    moved,
    wait_read,
    wait_write,
    ended,    ///< the other side said so, in good order
    failed,   ///< `why`
    refused,  ///< `why`, and it will never work
  };
  struct Moved {
    Io io = Io::moved;
    std::size_t bytes = 0;
  };

  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  int fd() const { return fd_.get(); }
  virtual Moved read(std::span<std::byte> into) = 0;
  virtual Moved write(std::string_view bytes) = 0;
  /// There may be bytes that the socket does not ring for.
  virtual bool has_more() const { return false; }
  /// Bytes of ours have a way: no handshake is under way.
  virtual bool is_open() const { return true; }
  const std::string& why() const { return why_; }

 protected:
  Moved failed(Io how, std::string why) {
    why_ = std::move(why);
    return {how};
  }

 private:
  UniqueFd fd_;
  std::string why_;
};

std::unique_ptr<Channel> make_plain_channel(UniqueFd fd);

/// Whom to trust; made once, since reading the certificates takes milliseconds.
class TlsContext {
 public:
  /// `ca_bundle`: a file; empty: the system's. `denied` if it cannot be read.
  static Result<std::unique_ptr<TlsContext>> make(const std::string& ca_bundle);
  TlsContext() = default;
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  virtual ~TlsContext() = default;
  /// Shakes hands when the first bytes are written, and holds the certificate against `host`, a
  /// name or an address.
  virtual std::unique_ptr<Channel> open(UniqueFd fd, const std::string& host) = 0;
};

}  // namespace headrace::http
