// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/picture_report.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace headrace {

namespace {

std::string sha256_hex(std::span<const std::uint8_t> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace

PictureReport report_picture(ByteSpan encoded, const DecodeLimits& limits) {
  PictureReport report;
  report.format = sniff(encoded);
  Decoder decoder(limits);
  if (const auto info = decoder.inspect(encoded)) {
    report.width = info->width;
    report.height = info->height;
  }
  auto pixels = decoder.decode(encoded);
  if (!pixels) {
    report.warnings.assign(decoder.warnings().begin(), decoder.warnings().end());
    report.reason = pixels.error().to_string();
    return report;
  }
  report.decodes = true;
  report.rgb_sha256 = sha256_hex(pixels->rgb);
  report.warnings = std::move(pixels->warnings);
  return report;
}

}  // namespace headrace
