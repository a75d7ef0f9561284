// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/writer.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "headrace/records/deflate.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"

namespace headrace::tfrecord {
namespace {

constexpr std::size_t kFlushBytes = 4U << 20U;
constexpr std::array<std::string_view, 1> kSuffixes = {".tfrecord"};

class Writer final : public ShardWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    writer->key_ = numbered_stem(place.key, shard, shards) + std::string(kSuffixes[0]);
    if (!place.compression.empty()) {
      writer->deflater_ = std::make_unique<Deflater>(
          place.compression == "gzip" ? Compression::gzip : Compression::zlib);
    }
    HEADRACE_TRY(writer->object_, place.store.create(writer->key_, place.stop));
    return writer;
  }

  Result<void> add(const OutSample& sample) override {
    example_.clear();
    append_example(sample.labels, sample.payload, sample.file.empty() ? sample.name : sample.file,
                   example_);
    HEADRACE_TRY(append_frame(example_, frames_));
    ++samples_;
    return frames_.size() < kFlushBytes ? Result<void>() : flush(false);
  }

  Result<WrittenShard> finish() override {
    HEADRACE_TRY(flush(true));
    HEADRACE_TRY(object_->finish());
    return WrittenShard{.samples = samples_, .bytes = bytes_, .keys = {key_}, .summary = {}};
  }

 private:
  Result<void> flush(bool last) {
    if (deflater_) {
      std::vector<std::byte> compressed;
      HEADRACE_TRY(deflater_->append(frames_, last, compressed));
      frames_ = std::move(compressed);
    }
    HEADRACE_TRY(object_->append(frames_));
    bytes_ += frames_.size();
    frames_.clear();
    return {};
  }

  std::string key_;
  std::unique_ptr<ObjectWriter> object_;
  std::unique_ptr<Deflater> deflater_;
  std::vector<std::byte> example_;
  std::vector<std::byte> frames_;  ///< not yet handed over
  std::uint64_t bytes_ = 0;        ///< handed over
  std::uint64_t samples_ = 0;
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
