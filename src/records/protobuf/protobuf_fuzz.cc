// SPDX-License-Identifier: Apache-2.0
// Any bytes as an aialgs.data.Record. What must hold: what was parsed is written so that it is
// parsed the same and written the same again, and every beginning of a Record looks like one.
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "headrace/records/protobuf/protobuf.h"
#include "headrace/records/protobuf/record.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/testing/fuzz_pieces.h"

namespace {

using namespace headrace;
using namespace headrace::protobuf;
using headrace::testing::require;

std::vector<std::byte> written(const Record& record) {
  std::vector<std::byte> out;
  append_record(record, out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const Bytes message = Bytes::copy_of(std::as_bytes(std::span(data, size)));
  std::ignore = is_protobuf(message.span());
  for (const auto parts : {recordio::Parts::automatic, recordio::Parts::sagemaker})
    std::ignore = recordio::unframe(message, parts);
  for (std::size_t cut = 0; cut <= size; ++cut)
    std::ignore = looks_like_record(message.span().first(cut), size + cut);
  const auto record = parse_record(message.span());
  if (!record) return 0;
  const auto once = written(*record);
  const auto again = parse_record(once);
  require(again.ok() && written(*again) == once);
  require(again->features.size() == record->features.size() &&
          again->label.size() == record->label.size() && again->uid == record->uid);
  if (is_record(once)) {
    for (std::size_t cut = 1; cut <= once.size(); ++cut) {
      // Of one byte only its tag can be seen, of two less than a field.
      const bool looks = looks_like_record(ByteSpan(once).first(cut), once.size());
      require(looks || cut < 12);
    }
  }
  std::ignore = labels_of(*record, "");
  if (const auto image = image_of(*record, "")) {
    require(image->data() >= message.data() &&
            image->data() + image->size() <= message.data() + message.size());
  }
  return 0;
}
