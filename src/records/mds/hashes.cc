// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/hashes.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "headrace/records/byte_source.h"

namespace headrace::mds {
namespace {

std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

class Hasher {
 public:
  Hasher() = default;
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  virtual ~Hasher() = default;

  virtual void add(ByteSpan bytes) = 0;
  virtual std::string digits() = 0;
};

class OpenSsl final : public Hasher {
 public:
  explicit OpenSsl(const EVP_MD* kind) : state_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(state_, kind, nullptr);
  }
  ~OpenSsl() override { EVP_MD_CTX_free(state_); }
  void add(ByteSpan bytes) override { EVP_DigestUpdate(state_, bytes.data(), bytes.size()); }
  std::string digits() override {
    std::vector<unsigned char> digest(EVP_MAX_MD_SIZE);
    unsigned length = 0;
    EVP_DigestFinal_ex(state_, digest.data(), &length);
    return hex(std::span(digest).first(length));
  }

 private:
  EVP_MD_CTX* const state_;
};

/// Of 32 and 64 bits in their first form.
class Xxh64 final : public Hasher {
 public:
  Xxh64() : state_(XXH64_createState()) { XXH64_reset(state_, 0); }
  ~Xxh64() override { XXH64_freeState(state_); }
  void add(ByteSpan bytes) override { XXH64_update(state_, bytes.data(), bytes.size()); }
  std::string digits() override { return fmt::format("{:016x}", XXH64_digest(state_)); }

 private:
  XXH64_state_t* const state_;
};

class Xxh32 final : public Hasher {
 public:
  Xxh32() : state_(XXH32_createState()) { XXH32_reset(state_, 0); }
  ~Xxh32() override { XXH32_freeState(state_); }
  void add(ByteSpan bytes) override { XXH32_update(state_, bytes.data(), bytes.size()); }
  std::string digits() override { return fmt::format("{:08x}", XXH32_digest(state_)); }

 private:
  XXH32_state_t* const state_;
};

class Xxh3 final : public Hasher {
 public:
  explicit Xxh3(bool wide) : state_(XXH3_createState()), wide_(wide) {
    if (wide_) {
      XXH3_128bits_reset(state_);
    } else {
      XXH3_64bits_reset(state_);
    }
  }
  ~Xxh3() override { XXH3_freeState(state_); }
  void add(ByteSpan bytes) override {
    if (wide_) {
      XXH3_128bits_update(state_, bytes.data(), bytes.size());
    } else {
      XXH3_64bits_update(state_, bytes.data(), bytes.size());
    }
  }
  std::string digits() override {
    if (!wide_) return fmt::format("{:016x}", XXH3_64bits_digest(state_));
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  XXH3_state_t* const state_;
  const bool wide_;
};

std::unique_ptr<Hasher> make_hasher(std::string name) {
  if (name == "xxh32") return std::make_unique<Xxh32>();
  if (name == "xxh64") return std::make_unique<Xxh64>();
  if (name == "xxh3_64") return std::make_unique<Xxh3>(false);
  if (name == "xxh128" || name == "xxh3_128") return std::make_unique<Xxh3>(true);
  std::ranges::replace(name, '_', '-');  // hashlib's sha3_256 is OpenSSL's sha3-256
  if (name == "blake2b") name = "blake2b512";
  if (name == "blake2s") name = "blake2s256";
  const EVP_MD* const kind = EVP_get_digestbyname(name.c_str());
  return kind == nullptr ? nullptr : std::make_unique<OpenSsl>(kind);
}

}  // namespace

Result<HashCheck> check_hashes(Store& store, const ObjectInfo& object,
                               const std::map<std::string, std::string>& hashes,
                               const std::stop_token& stop, bool fresh) {
  constexpr std::uint64_t kPiece = 4U << 20U;
  HashCheck check;
  std::map<std::string, std::unique_ptr<Hasher>> hashers;
  for (const auto& [name, digits] : hashes) {
    auto hasher = make_hasher(name);
    if (hasher == nullptr) {
      check.unknown = name;
    } else {
      hashers.emplace(name, std::move(hasher));
    }
  }
  if (hashers.empty()) return check;
  for (std::uint64_t at = 0; at < object.size; at += kPiece) {
    const ByteRange range{at, std::min(kPiece, object.size - at)};
    HEADRACE_TRY(
        const auto read,
        read_now(
            store,
            {.key = object.key, .range = range, .pin = object.pin, .fresh = fresh, .stop = stop}));
    for (const auto& [name, hasher] : hashers) hasher->add(read.bytes.span());
  }
  for (const auto& [name, hasher] : hashers)
    if (hasher->digits() != hashes.at(name)) check.wrong = name;
  return check;
}

}  // namespace headrace::mds
