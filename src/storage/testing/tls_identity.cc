// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/tls_identity.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <stdexcept>
#include <tuple>

namespace headrace::testing {
namespace {

struct Free {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

class Connection final : public TlsConnection {
 public:
  explicit Connection(Owned<SSL> ssl) : ssl_(std::move(ssl)) {}
  long read(char* into, std::size_t size) override {
    return SSL_read(ssl_.get(), into, static_cast<int>(size));
  }
  long write(const char* from, std::size_t size) override {
    return SSL_write(ssl_.get(), from, static_cast<int>(size));
  }

 private:
  Owned<SSL> ssl_;
};

void extend(X509* certificate, int kind, const char* value) {
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  X509_add_ext(certificate, extension.get(), -1);
}

Owned<X509> self_signed(EVP_PKEY* key) {
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const void* text = "test server";
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, static_cast<const unsigned char*>(text), -1,
                             -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  extend(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost,DNS:*.localhost");
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

}  // namespace

struct TlsIdentity::Parts {
  Owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  Owned<X509> certificate = self_signed(key.get());
  Owned<SSL_CTX> context{SSL_CTX_new(TLS_server_method())};
};

TlsIdentity::TlsIdentity() : parts_(std::make_unique<Parts>()) {
  std::ignore =
      std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the client may have closed
  if (SSL_CTX_use_certificate(parts_->context.get(), parts_->certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(parts_->context.get(), parts_->key.get()) != 1) {
    throw std::runtime_error("no identity for the test server");
  }
}
TlsIdentity::~TlsIdentity() = default;

std::string TlsIdentity::certificate() const {
  const Owned<BIO> memory(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(memory.get(), parts_->certificate.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::unique_ptr<TlsConnection> TlsIdentity::accept(int fd) {
  Owned<SSL> ssl(SSL_new(parts_->context.get()));
  SSL_set_fd(ssl.get(), fd);
  if (SSL_accept(ssl.get()) != 1) return nullptr;
  return std::make_unique<Connection>(std::move(ssl));
}

}  // namespace headrace::testing
