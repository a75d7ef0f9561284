// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/dir_side_store.h"

#include <sys/stat.h>

#include "headrace/base/digest.h"
#include "headrace/storage/block.h"
#include "headrace/storage/local/local_file.h"
#include "headrace/storage/local/local_path.h"
#include "headrace/storage/local/local_writer.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/side_key.h"

namespace headrace {
namespace {

/// "snapshot-<hash of the key>": readable, and no longer than a file name may be.
std::string file_name(const SideKey& key) {
  return key.kind + "-" + hash_bytes(as_byte_span(side_key_bytes(key))).to_hex();
}

class DirSideStore final : public SideStore {
 public:
  explicit DirSideStore(std::string folder) : folder_(std::move(folder)) {}

  Result<std::optional<Bytes>> get(const SideKey& key) override {
    const std::string path = local::path_of(folder_, file_name(key));
    struct stat status {};
    const auto fd = local::open_file(path, status);
    if (!fd) {
      if (fd.error().code() == Code::not_found) return std::optional<Bytes>();
      return Result<std::optional<Bytes>>(fd.error()).at(path);
    }
    HEADRACE_TRY(Buffer buffer, allocate(static_cast<std::uint64_t>(status.st_size)));
    const auto got = local::read_some(fd->get(), buffer.span(), 0, {});
    if (!got) return Result<std::optional<Bytes>>(got.error()).at(path);
    return decode_side_entry(key, std::move(buffer).freeze(*got));
  }

  Result<void> put(const SideKey& key, ByteSpan bytes) override {
    HEADRACE_TRY(auto writer, local::create_file(folder_, file_name(key), local::Durable::no));
    HEADRACE_TRY(writer->append(as_byte_span(encode_side_entry(key, bytes))));
    HEADRACE_TRY(writer->finish());
    return {};
  }

 private:
  const std::string folder_;
};

}  // namespace

std::unique_ptr<SideStore> make_dir_side_store(const std::string& folder) {
  return std::make_unique<DirSideStore>(folder);
}

}  // namespace headrace
