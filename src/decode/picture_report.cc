// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/picture_report.h"

#include "headrace/base/sha256.h"

namespace headrace {

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
  report.rgb_sha256 = sha256_hex(std::as_bytes(pixels->rgb));
  report.warnings = std::move(pixels->warnings);
  return report;
}

}  // namespace headrace
