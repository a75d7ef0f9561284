// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/pack/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "headrace/records/classes.h"
#include "headrace/records/recordio/writer.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

constexpr float kExactLabels = 16'777'216;  // 2^24: beyond it not every whole number is a float32

std::string class_list_key(const std::string& key) { return key + ".classes.txt"; }

Result<std::set<std::string>> objects_of(Store& store, const WriterKind& kind,
                                         const std::string& key, const std::stop_token& stop) {
  std::set<std::string> objects;
  const auto take = [&](ListPage&& page) -> Result<bool> {
    for (const ObjectInfo& object : page.objects)
      if (kind.owns(object.key, key) || object.key == class_list_key(key))
        objects.insert(object.key);
    return true;
  };
  const auto listed = store.list({.prefix = key}, stop, take);
  if (!listed && listed.error().code() != Code::not_found) return listed.error();
  return objects;
}

class Packer {
 public:
  Packer(Store& source, const Dataset& set, Store& destination, const PackOptions& options,
         const Context& context)
      : set_(set),
        destination_(destination),
        kind_(recordio::writer_kind()),
        place_{.store = destination,
               .key = options.key,
               .classes = set.classes(),
               .compression = {},
               .notices = context.notices,
               .stop = options.stop},
        options_(options),
        context_(context),
        reader_(source, set, options.reading, options.stop) {}

  Result<PackReport> run() {
    HEADRACE_TRY(auto before, objects_of(destination_, kind_, options_.key, options_.stop));
    if (!before.empty() && !options_.replace) {
      return Error(Code::invalid, "there is a packed set of this name already",
                   "choose another name, or give --force to replace it")
          .at(object_place(destination_.describe(), *before.begin()));
    }
    auto written = write_set();
    if (!written) {
      remove_new(before);
      return std::move(written).error();
    }
    // Shards of another number of shards would be read as part of the set.
    for (const std::string& key : report_.keys) before.erase(key);
    for (const std::string& key : before) HEADRACE_TRY(destination_.remove(key, options_.stop));
    return std::move(report_);
  }

 private:
  Result<void> write_set() {
    HEADRACE_TRY(write_classes());
    const auto starts = plan_shards(set_, options_.shards, options_.shard_bytes);
    for (std::size_t shard = 0; shard + 1 < starts.size(); ++shard) {
      HEADRACE_TRY(write_shard(shard, starts));
    }
    return {};
  }

  /// Of a set that was not finished nothing stays: its first shards would pass for a small set, and
  /// the next pack would refuse to write over them.
  void remove_new(const std::set<std::string>& before) {
    for (const std::string& key : report_.keys) {
      if (before.count(key) == 0) std::ignore = destination_.remove(key, {});
    }
  }

  Result<void> write_classes() {
    if (set_.classes().empty()) return {};
    for (const std::string& name : set_.classes()) {
      if (name.find('\n') != std::string::npos)
        return Error(Code::invalid, "a class name with a line end cannot be kept").at(name);
    }
    const std::string key = class_list_key(options_.key);
    HEADRACE_TRY(
        put(destination_, key, as_byte_span(classes_to_text(set_.classes())), options_.stop));
    report_.keys.push_back(key);
    return {};
  }

  Result<void> write_shard(std::size_t shard, const std::vector<std::uint64_t>& starts) {
    HEADRACE_TRY(auto writer, kind_.open(place_, shard, starts.size() - 1));
    for (std::uint64_t id = starts[shard]; id < starts[shard + 1]; ++id) {
      if (options_.stop.stop_requested()) return Error(Code::cancelled, "stopped");
      auto answer = reader_.next();  // there is one for each id
      HEADRACE_TRY(write_sample(*writer, answer->id, std::move(answer->frame)));
      if (options_.progress != nullptr) options_.progress->samples.fetch_add(1);
    }
    HEADRACE_TRY(const auto written, writer->finish());
    report_.record_bytes += written.bytes;
    report_.keys.insert(report_.keys.end(), written.keys.begin(), written.keys.end());
    return {};
  }

  Result<void> write_sample(ShardWriter& writer, SampleId id, Result<Bytes>&& frame) {
    auto sample = frame ? set_.parse(id, *frame) : Result<Sample>(std::move(frame).error());
    if (!sample) {
      const bool bad = sample.error().code() == Code::corrupt ||
                       sample.error().code() == Code::not_found ||
                       sample.error().code() == Code::denied;
      if (!bad || !options_.skip_bad) return std::move(sample).error().at(set_.name(id));
      skip(id, sample.error());
      return {};
    }
    for (const float label : sample->labels) {
      if (label > kExactLabels || label < -kExactLabels) {
        context_.notices->add("label-precision",
                              fmt::format("label {} of {} is beyond 2^24, where float32 does not "
                                          "hold every whole number",
                                          label, set_.name(id)));
      }
    }
    const std::string name = set_.name(id);
    const std::string file = set_.file(id, *frame);
    auto added = writer.add({.id = static_cast<std::uint64_t>(id),
                             .labels = sample->labels,
                             .payload = sample->payload.span(),
                             .name = name,
                             .file = file});
    if (!added) return std::move(added).at(name);
    ++report_.samples;
    report_.payload_bytes += sample->payload.size();
    if (options_.progress != nullptr) options_.progress->bytes.fetch_add(sample->payload.size());
    return {};
  }

  void skip(SampleId id, const Error& error) {
    constexpr std::size_t kMaxSkipped = 1000;
    ++report_.skipped;
    if (report_.first_skipped.size() < kMaxSkipped)
      report_.first_skipped.push_back({.name = set_.name(id), .why = error.to_string()});
  }

  const Dataset& set_;
  Store& destination_;
  const WriterKind& kind_;
  const SetPlace place_;
  const PackOptions& options_;
  const Context& context_;
  ReadAhead reader_;
  PackReport report_;
};

}  // namespace

std::vector<std::uint64_t> plan_shards(const Dataset& set, std::uint64_t shards,
                                       std::uint64_t shard_bytes) {
  std::vector<std::uint64_t> starts = {0};
  const std::uint64_t size = set.size();
  if (shard_bytes != 0) {
    std::uint64_t bytes = 0;
    for (std::uint64_t id = 0; id < size; ++id) {
      const std::uint64_t frame = set.frame_bytes(SampleId{id}) + 36;  // header, magic, padding
      if (bytes != 0 && bytes + frame > shard_bytes) {
        starts.push_back(id);
        bytes = 0;
      }
      bytes += frame;
    }
  } else {
    shards = std::clamp<std::uint64_t>(shards, 1, std::max<std::uint64_t>(size, 1));
    for (std::uint64_t shard = 1; shard < shards; ++shard)
      starts.push_back(size / shards * shard + std::min(shard, size % shards));
  }
  starts.push_back(size);
  return starts;
}

Result<PackReport> pack_recordio(Store& source, const Dataset& set, Store& destination,
                                 const PackOptions& options, const Context& context) {
  return Packer(source, set, destination, options, context).run();
}

}  // namespace headrace
