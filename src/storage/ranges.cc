// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/ranges.h"

#include <fmt/format.h>

namespace headrace {
namespace {

std::string describe(const Pin& pin) {
  if (!pin.etag.empty()) return "ETag " + pin.etag;
  if (!pin.version.empty()) return "version " + pin.version;
  return fmt::format("{} bytes, modified at {} ns", pin.size, pin.modified_ns);
}

}  // namespace

std::string object_place(std::string_view store, std::string_view key) {
  if (key.empty()) return std::string(store);
  const bool joined = store.empty() || store.ends_with('/');
  return fmt::format("{}{}{}", store, joined ? "" : "/", key);
}

Result<ByteRange> resolve(const ByteRange& range, std::uint64_t size) {
  if (range.offset > size ||
      (range.length != ByteRange::kToEnd && range.length > size - range.offset)) {
    return Error(Code::invalid, fmt::format("range {}+{} leaves the object of {} bytes",
                                            range.offset, range.length, size));
  }
  return ByteRange{range.offset,
                   range.length == ByteRange::kToEnd ? size - range.offset : range.length};
}

bool is_folder_marker(std::string_view key, std::uint64_t size) {
  return size == 0 && key.ends_with('/');
}

Error changed_error(const Pin& wanted, const Pin& found) {
  return {Code::changed,
          fmt::format("the object was replaced: pinned {}, found {}", describe(wanted),
                      describe(found)),
          "start the job again to take a new snapshot, or keep training data immutable"};
}

bool same_version(const Pin& wanted, const Pin& found) {
  if (!wanted.etag.empty() && !found.etag.empty()) return wanted.etag == found.etag;
  if (!wanted.version.empty() && !found.version.empty()) return wanted.version == found.version;
  return wanted.modified_ns == found.modified_ns && wanted.size == found.size;
}

}  // namespace headrace
