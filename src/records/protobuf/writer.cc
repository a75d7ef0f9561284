// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/protobuf/writer.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "headrace/records/one_object_writer.h"
#include "headrace/records/picture_kind.h"
#include "headrace/records/protobuf/record.h"
#include "headrace/records/recordio/frame.h"

namespace headrace::protobuf {
namespace {

constexpr std::array<std::string_view, 1> kSuffixes = {".pbr"};

class Writer final : public OneObjectWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    HEADRACE_TRY(
        writer->create(place, numbered_stem(place.key, shard, shards) + std::string(kSuffixes[0])));
    return writer;
  }

 private:
  Result<void> append_sample(const OutSample& sample, std::vector<std::byte>& frames) override {
    Record record;
    const std::string type = content_type(sample.payload);
    record.features[kDefaultKey] = BytesValue{.values = {sample.payload}, .content_type = type};
    if (!sample.labels.empty()) {
      record.label[kDefaultKey] = Tensor<float>{
          .values = {sample.labels.begin(), sample.labels.end()}, .keys = {}, .shape = {}};
    }
    record.uid = sample.file.empty() ? sample.name : sample.file;
    message_.clear();
    append_record(record, message_);
    return recordio::append_unsplit(message_, frames);
  }

  static std::string content_type(ByteSpan picture) {
    const std::string_view kind = picture_kind(picture);
    const bool known = kind != "empty" && kind != "unknown";
    return known ? "image/" + std::string(kind) : std::string();
  }

  std::vector<std::byte> message_;
};

bool owns(std::string_view object, std::string_view key) {
  return is_numbered(object, key, kSuffixes);
}

}  // namespace

const WriterKind& writer_kind() {
  constexpr std::uint64_t kOverhead = 112;  // frame, tags, lengths, names, content type; one label
  static const WriterKind kKind{
      .overhead = kOverhead, .names = 1, .compressions = {}, .open = Writer::open, .owns = owns};
  return kKind;
}

}  // namespace headrace::protobuf
