// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/writer.h"

#include <array>
#include <cmath>
#include <utility>

#include "headrace/records/one_object_writer.h"
#include "headrace/records/tar/member.h"

namespace headrace::tar {
namespace {

constexpr std::array<std::string_view, 1> kSuffixes = {".tar"};

class Writer final : public OneObjectWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>();
    HEADRACE_TRY(writer->create(place, numbered_stem(place.key, shard, shards) + ".tar"));
    return writer;
  }

 private:
  Result<void> append_sample(const OutSample& sample, std::vector<std::byte>& members) override {
    SampleName name = name_sample(sample.file, sample.id, sample.payload, previous_);
    for (const float label : sample.labels) {
      if (!std::isfinite(label)) return Error(Code::invalid, "a label that is no number");
    }
    // Fields stand in byte order of their suffixes, as webdataset writes them.
    const std::string cls = cls_text(sample.labels);
    const std::string json = cls.empty() && !sample.labels.empty() ? json_text(sample.labels) : "";
    if (!cls.empty()) append_member(name.key + ".cls", as_byte_span(cls), members);
    const bool json_first = !json.empty() && std::string_view("json") < name.picture;
    if (json_first) append_member(name.key + ".json", as_byte_span(json), members);
    append_member(name.key + "." + name.picture, sample.payload, members);
    if (!json.empty() && !json_first)
      append_member(name.key + ".json", as_byte_span(json), members);
    previous_ = std::move(name.key);
    return {};
  }
  void append_end(std::vector<std::byte>& members) override { tar::append_end(made(), members); }

  std::string previous_;  ///< key of the sample before
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
