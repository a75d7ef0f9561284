// SPDX-License-Identifier: Apache-2.0
// Any bytes as a manifest and as a line of one. What must hold: no key leaves the root.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "headrace/base/bytes.h"
#include "headrace/records/manifest/array.h"
#include "headrace/records/manifest/lines.h"
#include "headrace/records/testing/fuzz_pieces.h"

namespace {

using namespace headrace;
using headrace::testing::require;

void check_key(const Result<std::string>& key) {
  if (!key) return;
  require(!key->empty() && *key != ".." && !key->starts_with("../"));
  require(key->find("/../") == std::string::npos && !key->ends_with("/.."));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  const manifest::Root root("s3://b/r");
  check_key(root.key_of(text));
  if (const auto array = manifest::parse_array(text)) {
    std::uint64_t line = 1;
    for (const manifest::Named& one : array->names) {
      require(one.line >= line);
      line = one.line;
      check_key(root.key_of(array->prefix + one.name));
    }
  }
  for (const auto& attributes : {std::vector<std::string>(), {"a-ref", "b"}}) {
    const auto row = manifest::parse_line(text, attributes, root);
    if (!row) continue;
    check_key(row->path);
    require(!row->labels.empty());
  }
  std::ignore = manifest::is_augmented_line(text);
  return 0;
}
