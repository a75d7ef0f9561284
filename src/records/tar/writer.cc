// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/writer.h"

#include <array>
#include <cmath>
#include <utility>

#include "headrace/records/tar/member.h"

namespace headrace::tar {
namespace {

constexpr std::size_t kFlushBytes = 4U << 20U;
constexpr std::array<std::string_view, 1> kSuffixes = {".tar"};

class Writer final : public ShardWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    writer->key_ = numbered_stem(place.key, shard, shards) + ".tar";
    HEADRACE_TRY(writer->object_, place.store.create(writer->key_, place.stop));
    return writer;
  }

  Result<void> add(const OutSample& sample) override {
    SampleName name = name_sample(sample.file, sample.id, sample.payload, previous_);
    for (const float label : sample.labels) {
      if (!std::isfinite(label)) return Error(Code::invalid, "a label that is no number");
    }
    // Fields stand in byte order of their suffixes, as webdataset writes them.
    const std::string cls = cls_text(sample.labels);
    const std::string json = cls.empty() && !sample.labels.empty() ? json_text(sample.labels) : "";
    if (!cls.empty()) append_member(name.key + ".cls", as_byte_span(cls), members_);
    const bool json_first = !json.empty() && std::string_view("json") < name.picture;
    if (json_first) append_member(name.key + ".json", as_byte_span(json), members_);
    append_member(name.key + "." + name.picture, sample.payload, members_);
    if (!json.empty() && !json_first)
      append_member(name.key + ".json", as_byte_span(json), members_);
    previous_ = std::move(name.key);
    ++samples_;
    return members_.size() < kFlushBytes ? Result<void>() : flush();
  }

  Result<WrittenShard> finish() override {
    append_end(bytes_ + members_.size(), members_);
    HEADRACE_TRY(flush());
    HEADRACE_TRY(object_->finish());
    return WrittenShard{.samples = samples_, .bytes = bytes_, .keys = {key_}, .summary = {}};
  }

 private:
  Result<void> flush() {
    HEADRACE_TRY(object_->append(members_));
    bytes_ += members_.size();
    members_.clear();
    return {};
  }

  std::string key_;
  std::unique_ptr<ObjectWriter> object_;
  std::vector<std::byte> members_;  ///< not yet handed over
  std::string previous_;            ///< key of the sample before
  std::uint64_t bytes_ = 0;         ///< handed over
  std::uint64_t samples_ = 0;
};

bool owns(std::string_view object, std::string_view key) {
  return is_numbered(object, key, kSuffixes);
}

}  // namespace

const WriterKind& writer_kind() {
  // Two headers with padding and a label; two pax headers, should the name need them.
  constexpr std::uint64_t kOverhead = 4128;
  static const WriterKind kKind{
      .overhead = kOverhead, .compressions = {}, .open = Writer::open, .owns = owns};
  return kKind;
}

}  // namespace headrace::tar
