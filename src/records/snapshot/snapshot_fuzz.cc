// SPDX-License-Identifier: Apache-2.0
// Any bytes as a snapshot's file, and any bytes as entries and names under a head that is right:
// no fault, and every answer within bounds.
#include <cstdlib>
#include <string>

#include "headrace/records/list_index.h"
#include "headrace/records/snapshot/snapshot.h"

namespace {

using headrace::ObjectEntry;
using headrace::ObjectIndex;

void use(const ObjectIndex& index) {
  std::size_t total = 0;
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const auto info = index.info(i);
    total += info.key.size() + info.pin.etag.size();
    if (const auto found = index.find(info.key); found && *found >= index.size()) std::abort();
    if (index.lower_bound(info.key) > index.size()) std::abort();
  }
  const auto fingerprint = index.fingerprint();
  if (total == 0 && fingerprint != index.fingerprint()) std::abort();
  std::size_t listed = 0;
  const auto count = [&listed](headrace::ListPage&& page) -> headrace::Result<bool> {
    listed += page.objects.size() + page.folders.size();
    return listed < 10'000;
  };
  if (!headrace::list_index(index, {.by_folder = true}, {}, count).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto snapshot = headrace::Snapshot::parse(bytes, nullptr); snapshot.ok())
    use((*snapshot)->objects());
  if (size < 1) return 0;
  const std::size_t entries = std::min<std::size_t>(data[0], (size - 1) / sizeof(ObjectEntry));
  std::vector<ObjectEntry> aligned(entries);
  std::copy_n(data + 1, entries * sizeof(ObjectEntry),
              static_cast<std::uint8_t*>(static_cast<void*>(aligned.data())));
  const auto names = bytes.subspan(1 + entries * sizeof(ObjectEntry));
  use(ObjectIndex(aligned,
                  {static_cast<const char*>(static_cast<const void*>(names.data())), names.size()},
                  nullptr));
  return 0;
}
