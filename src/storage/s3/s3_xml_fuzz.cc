// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "headrace/storage/s3/xml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* bytes = data;
  const std::string_view text(static_cast<const char*>(bytes), size);
  (void)headrace::s3::parse_list(text);
  (void)headrace::s3::parse_error(text);
  (void)headrace::s3::child_text(text, "UploadId");
  (void)headrace::s3::parse_iso_date(text);
  return 0;
}
