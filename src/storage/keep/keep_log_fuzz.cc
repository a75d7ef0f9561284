// SPDX-License-Identifier: Apache-2.0
// A segment's log is whatever a crash left: any bytes may come, and none may be believed that do
// not verify. What is parsed must encode to the same bytes.
#include <cstdlib>
#include <cstring>

#include "headrace/storage/keep/entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace::keep;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = parse_header(bytes);
  std::uint64_t at = header ? header->bytes : 0;
  const std::uint64_t salt = header ? header->salt : 0;
  while (const auto parsed = parse_entry(bytes.subspan(at), salt, at)) {
    std::vector<std::byte> again;
    append_entry(parsed->entry, salt, at, again);
    if (again.size() != parsed->bytes) std::abort();
    at += parsed->bytes;
  }
  std::ignore = SegmentName::parse(headrace::as_text(bytes));
  return 0;
}
