// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace headrace {

std::string sha256_hex(ByteSpan bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    return {};  // only if OpenSSL was built without SHA-256
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest.at(i));
  return text;
}

}  // namespace headrace
