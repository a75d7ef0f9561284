// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "headrace/base/bytes.h"
#include "headrace/consumers/train/checkpoint.h"
#include "headrace/consumers/train/progress.h"

/// Any bytes end in a value or an error; what is read is written back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = headrace::as_text(std::as_bytes(std::span(data, size)));
  const auto checkpoint = headrace::Checkpoint::parse(bytes);
  if (checkpoint && checkpoint->to_bytes() != bytes) std::abort();
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  if (!json.is_discarded()) {
    const auto progress = headrace::parse_progress(json);
    if (progress && !headrace::parse_progress(to_json(*progress))) std::abort();
  }
  return 0;
}
