// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/sigv4.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <span>

namespace headrace::s3 {
namespace {

constexpr std::size_t kHashSize = 32;
constexpr std::size_t kBlockSize = 64;  // of SHA-256, as HMAC pads its key (RFC 2104)
using Hash = std::array<std::byte, kHashSize>;

/// One context a thread: making it anew would cost more than the hash of a short text.
class Sha256 {
 public:
  Hash operator()(ByteSpan first, ByteSpan second = {}) {
    Hash hash{};
    EVP_DigestInit_ex(context_.get(), algorithm_.get(), nullptr);
    EVP_DigestUpdate(context_.get(), first.data(), first.size());
    EVP_DigestUpdate(context_.get(), second.data(), second.size());
    void* out = hash.data();
    EVP_DigestFinal_ex(context_.get(), static_cast<unsigned char*>(out), nullptr);
    return hash;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  };
  std::unique_ptr<EVP_MD, Free> algorithm_{EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

Hash sha256(ByteSpan first, ByteSpan second = {}) {
  thread_local Sha256 hasher;
  return hasher(first, second);
}

/// RFC 2104.
Hash hmac(ByteSpan key, ByteSpan message) {
  std::array<std::byte, kBlockSize> inner{};
  if (key.size() > kBlockSize) {
    const Hash hashed = sha256(key);
    std::memcpy(inner.data(), hashed.data(), hashed.size());
  } else if (!key.empty()) {
    std::memcpy(inner.data(), key.data(), key.size());
  }
  std::array<std::byte, kBlockSize> outer = inner;
  for (auto& byte : inner) byte ^= std::byte{0x36};
  for (auto& byte : outer) byte ^= std::byte{0x5c};
  return sha256(outer, sha256(inner, message));
}

std::string hex_of(ByteSpan bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

/// Outer blanks go, inner runs of blanks become one.
void append_trimmed(std::string& to, std::string_view value) {
  bool gap = false;
  bool begun = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      gap = begun;
      continue;
    }
    if (gap) to += ' ';
    gap = false;
    begun = true;
    to += c;
  }
}

void append_names(std::string& to, const Headers& headers) {
  bool first = true;
  for (const auto& [name, value] : headers) {
    if (!first) to += ';';
    first = false;
    to += name;
  }
}

}  // namespace

std::string amz_date(std::int64_t seconds) {
  using std::chrono::sys_seconds;
  const sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string canonical_request(const SignedRequest& request) {
  std::string text;
  text.reserve(512);
  text += request.method;
  text += '\n';
  text += request.path;
  text += '\n';
  text += request.query;
  text += '\n';
  for (const auto& [name, value] : request.headers) {
    text += name;
    text += ':';
    append_trimmed(text, value);
    text += '\n';
  }
  text += '\n';
  append_names(text, request.headers);
  text += '\n';
  text += request.payload_hash;
  return text;
}

SigningKey::SigningKey(std::string_view secret, std::string_view day, std::string_view region,
                       std::string_view service)
    : day_(day),
      region_(region),
      scope_(fmt::format("{}/{}/{}/aws4_request", day, region, service)) {
  const std::string start = "AWS4" + std::string(secret);
  key_ = hmac(as_byte_span(start), as_byte_span(day));
  for (const std::string_view part : {region, service, std::string_view("aws4_request")}) {
    key_ = hmac(key_, as_byte_span(part));
  }
}

std::string SigningKey::hex() const { return hex_of(key_); }

std::string SigningKey::string_to_sign(std::string_view date, std::string_view canonical) const {
  std::string text = "AWS4-HMAC-SHA256\n";
  text += date;
  text += '\n';
  text += scope_;
  text += '\n';
  text += hex_of(sha256(as_byte_span(canonical)));
  return text;
}

std::string SigningKey::sign(std::string_view string_to_sign) const {
  return hex_of(hmac(key_, as_byte_span(string_to_sign)));
}

std::string SigningKey::authorize(std::string_view access_key, std::string_view date,
                                  const SignedRequest& request) const {
  std::string value = "AWS4-HMAC-SHA256 Credential=";
  value += access_key;
  value += '/';
  value += scope_;
  value += ", SignedHeaders=";
  append_names(value, request.headers);
  value += ", Signature=";
  value += sign(string_to_sign(date, canonical_request(request)));
  return value;
}

}  // namespace headrace::s3
