// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/channel.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace headrace::http {
namespace {

using Io = Channel::Io;

std::string text_of(int error) { return std::generic_category().message(error); }

class PlainChannel final : public Channel {
 public:
  using Channel::Channel;

  Moved read(std::span<std::byte> into) override {
    const auto size = ::recv(fd(), into.data(), into.size(), 0);
    if (size > 0) return {Io::moved, static_cast<std::size_t>(size)};
    return size == 0 ? Moved{Io::ended} : not_moved(Io::wait_read);
  }
  Moved write(std::string_view bytes) override {
    const auto size = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return size >= 0 ? Moved{Io::moved, static_cast<std::size_t>(size)} : not_moved(Io::wait_write);
  }

 private:
  Moved not_moved(Io wait) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {wait};
    return failed(Io::failed, text_of(errno));
  }
};

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

class TlsChannel final : public Channel {
 public:
  TlsChannel(UniqueFd fd, std::unique_ptr<SSL, FreeSsl> ssl)
      : Channel(std::move(fd)), ssl_(std::move(ssl)), arrived_(BIO_new(BIO_f_buffer())) {
    // A record at a time would be two system calls each; records are 16 KB at most, often 4 KB.
    // (OpenSSL's own reading ahead moves all that it has to the front for each record.)
    constexpr long kReadAhead = 128L << 10U;
    BIO_int_ctrl(arrived_, BIO_C_SET_BUFF_SIZE, kReadAhead, 0);
    BIO* const socket = BIO_new_socket(Channel::fd(), BIO_NOCLOSE);
    BIO_up_ref(socket);
    SSL_set0_rbio(ssl_.get(), BIO_push(arrived_, socket));
    SSL_set0_wbio(ssl_.get(), socket);
  }

  /// As many records as have come.
  Moved read(std::span<std::byte> into) override {
    std::size_t total = 0;
    while (total < into.size()) {
      std::size_t size = 0;
      ERR_clear_error();
      const int good = SSL_read_ex(ssl_.get(), &into[total], into.size() - total, &size);
      if (good != 1 && total == 0) return not_moved(good);
      if (good != 1) break;  // and is told next time
      total += size;
      if (!has_more()) break;
    }
    return {Io::moved, total};
  }
  Moved write(std::string_view bytes) override {
    std::size_t size = 0;
    ERR_clear_error();
    const int good = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
    return good == 1 ? Moved{Io::moved, size} : not_moved(good);
  }
  bool has_more() const override {
    return SSL_pending(ssl_.get()) > 0 || BIO_ctrl_pending(arrived_) > 0;
  }
  bool is_open() const override { return SSL_is_init_finished(ssl_.get()) == 1; }

 private:
  Moved not_moved(int result) {
    const int system = errno;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return {Io::wait_read};
      case SSL_ERROR_WANT_WRITE:
        return {Io::wait_write};
      case SSL_ERROR_ZERO_RETURN:
        return {Io::ended};
      case SSL_ERROR_SYSCALL:
        return failed(Io::failed, system != 0 ? text_of(system) : "the connection ended");
      default:
        break;
    }
    if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK)
      return failed(Io::refused, X509_verify_cert_error_string(verdict));
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    return failed(Io::failed, text.data());
  }

  const std::unique_ptr<SSL, FreeSsl> ssl_;
  BIO* const arrived_;  // the SSL's
};

class OpenSslContext final : public TlsContext {
 public:
  explicit OpenSslContext(SSL_CTX* context) : context_(context) {}

  std::unique_ptr<Channel> open(UniqueFd fd, const std::string& host) override {
    std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context_.get()));
    SSL_set_connect_state(ssl.get());
    X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) != 1) {  // a name, then
      X509_VERIFY_PARAM_set1_host(verify, host.c_str(), host.size());
      std::string name = host;  // SSL_set_tlsext_host_name has an old cast
      SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    }
    return std::make_unique<TlsChannel>(std::move(fd), std::move(ssl));
  }

 private:
  const std::unique_ptr<SSL_CTX, FreeSsl> context_;
};

}  // namespace

std::unique_ptr<Channel> make_plain_channel(UniqueFd fd) {
  return std::make_unique<PlainChannel>(std::move(fd));
}

Result<std::unique_ptr<TlsContext>> TlsContext::make(const std::string& ca_bundle) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  auto made = std::make_unique<OpenSslContext>(context);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  constexpr std::array<unsigned char, 9> kProtocol{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context, kProtocol.data(), kProtocol.size());
  const bool trusts = ca_bundle.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                        : SSL_CTX_load_verify_file(context, ca_bundle.c_str()) == 1;
  if (!trusts) {
    return Error(
        Code::denied,
        fmt::format("no certificates to trust can be read from '{}'",
                    ca_bundle.empty() ? std::string(X509_get_default_cert_file()) : ca_bundle),
        std::string(kTrustRemedy));
  }
  return std::unique_ptr<TlsContext>(std::move(made));
}

}  // namespace headrace::http
