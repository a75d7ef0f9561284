// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/writer.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "headrace/records/deflate.h"
#include "headrace/records/one_object_writer.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"

namespace headrace::tfrecord {
namespace {

constexpr std::array<std::string_view, 1> kSuffixes = {".tfrecord"};

class Writer final : public OneObjectWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    if (!place.compression.empty()) {
      writer->deflater_ = std::make_unique<Deflater>(
          place.compression == "gzip" ? Compression::gzip : Compression::zlib);
    }
    HEADRACE_TRY(
        writer->create(place, numbered_stem(place.key, shard, shards) + std::string(kSuffixes[0])));
    return writer;
  }

 private:
  Result<void> append_sample(const OutSample& sample, std::vector<std::byte>& frames) override {
    example_.clear();
    append_example(sample.labels, sample.payload, sample.file.empty() ? sample.name : sample.file,
                   example_);
    return append_frame(example_, frames);
  }
  Result<void> encode(std::vector<std::byte>& bytes, bool last) override {
    if (!deflater_) return {};
    std::vector<std::byte> compressed;
    HEADRACE_TRY(deflater_->append(bytes, last, compressed));
    bytes = std::move(compressed);
    return {};
  }

  std::unique_ptr<Deflater> deflater_;
  std::vector<std::byte> example_;
};

bool owns(std::string_view object, std::string_view key) {
  return is_numbered(object, key, kSuffixes);
}

}  // namespace

const WriterKind& writer_kind() {
  // Frame 16, names of the features 46, tags and lengths; one label.
  constexpr std::uint64_t kOverhead = 160;
  static const WriterKind kKind{.overhead = kOverhead,
                                .names = 1,
                                .compressions = {"gzip", "zlib"},
                                .open = Writer::open,
                                .owns = owns};
  return kKind;
}

}  // namespace headrace::tfrecord
