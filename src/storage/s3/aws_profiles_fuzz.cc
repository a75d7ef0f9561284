// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "headrace/storage/s3/profiles.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* bytes = data;
  (void)headrace::s3::parse_profiles({static_cast<const char*>(bytes), size});
  return 0;
}
