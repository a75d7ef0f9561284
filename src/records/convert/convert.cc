// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/records/classes.h"
#include "headrace/records/convert/local_destination.h"
#include "headrace/records/convert/plan.h"
#include "headrace/records/convert/receipts.h"
#include "headrace/records/convert/shard_job.h"
#include "headrace/records/formats.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/local/volume.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

using converting::Plan;
using converting::Receipt;
using converting::Receipts;

using ClassList = WriterKind::ClassList;

std::string class_list_key(const WriterKind& kind, const std::string& key) {
  return kind.class_list == ClassList::in_folder ? folder_of(key) + "classes.txt"
                                                 : key + ".classes.txt";
}

Result<const WriterKind*> find_writer(const ConvertOptions& options) {
  const Format* format = find_format(options.format);
  if (format == nullptr || format->writer == nullptr) {
    return Error(Code::invalid, fmt::format("format \"{}\" cannot be written", options.format),
                 fmt::format("one of {}", format_names(true)));
  }
  const WriterKind& kind = *format->writer;
  const auto& known = kind.compressions;
  if (!options.compression.empty() &&
      std::ranges::find(known, options.compression) == known.end()) {
    return Error(Code::invalid,
                 fmt::format("{} is not written with compression \"{}\"", options.format,
                             options.compression),
                 known.empty() ? "leave --compression out"
                               : fmt::format("one of {}", fmt::join(known, ", ")));
  }
  if (kind.samples_a_shard != 0 && (options.shards != 1 || options.shard_bytes != 0)) {
    return Error(Code::invalid,
                 fmt::format("format {} has one file a sample and no shards", options.format),
                 "leave --shards and --shard-size out");
  }
  return &kind;
}

/// The first label of every sample; without reading, where the set knows them.
Result<std::optional<converting::Labels>> read_labels(Store& source, const Dataset& set,
                                                      const ConvertOptions& options,
                                                      const Context& context) {
  if (!options.stratified) return std::optional<converting::Labels>();
  HEADRACE_TRY(auto labels, converting::Labels::make());
  const bool known = set.size() == 0 || set.label(SampleId{0}).has_value();
  std::optional<ReadAhead> reader;
  if (!known) reader.emplace(source, set, options.reading, options.stop);
  for (std::uint64_t id = 0; id < set.size(); ++id) {
    if (options.stop.stop_requested()) return Error(Code::cancelled, "stopped");
    if (known) {
      HEADRACE_TRY(labels.append(set.label(SampleId{id}).value_or(0)));
      continue;
    }
    const auto answer = reader->next();
    const auto sample =
        look_twice<Sample>(source, set, answer->id, answer->frame, *context.notices, options.stop,
                           [&](const Bytes& frame) { return set.parse(answer->id, frame); });
    // What cannot be read is met again when it is written, and the policy decides.
    HEADRACE_TRY(labels.append(sample && !sample->labels.empty() ? sample->labels[0] : 0.0F));
  }
  return std::optional(std::move(labels));
}

/// Everything that what is written depends on.
Hash128 identity(const Dataset& set, const ConvertOptions& options, const Plan& plan) {
  std::string text = fmt::format("headrace-convert 1\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{} {} {}\n",
                                 options.reading_text, options.format, options.compression,
                                 options.change.text, set.format(), set.fingerprint().to_hex(),
                                 set.size(), options.validation, options.seed, options.stratified);
  for (const WrittenSet& written : plan.sets()) text += fmt::format("set {}\n", written.key);
  for (const auto& shard : plan.shards())
    text += fmt::format("{} {} {} {}\n", shard.set, shard.number, shard.begin, shard.end);
  return hash_bytes(as_byte_span(text));
}

class Conversion {
 public:
  Conversion(Store& source, const Dataset& set, Store& destination, const ConvertOptions& options,
             const Context& context, const WriterKind& kind, const Plan& plan)
      : source_(source),
        set_(set),
        destination_(destination),
        options_(options),
        context_(context),
        kind_(kind),
        plan_(plan) {
    for (const WrittenSet& written : plan.sets()) {
      places_.push_back({.store = destination,
                         .key = written.key,
                         .classes = set.classes(),
                         .compression = options.compression,
                         .notices = context.notices,
                         .stop = options.stop});
    }
  }

  Result<ConvertReport> run() {
    HEADRACE_TRY(check_class_names());
    const std::string key = plan_.split() ? "split" : options_.key;
    HEADRACE_TRY(auto receipts, Receipts::open(destination_, key, identity(set_, options_, plan_),
                                               options_.replace, options_.stop));
    HEADRACE_TRY(before_, objects_there());
    found_begun_ = receipts.begun();
    const bool ours = receipts.begun() || (receipts.discarded() && !one_a_sample());
    if (!ours && !before_.empty()) HEADRACE_TRY(refuse_unless_replace());
    if (receipts.discarded()) forget_lone_class_lists();
    for (SetPlace& place : places_) place.resumed = receipts.begun();
    finished_ = receipts.finished();
    report_.shards_found = finished_.size();
    auto written = options_.finish ? Result<void>() : write_part(receipts);
    if (written && is_closing()) written = close(receipts);
    if (!written) {
      if (!options_.keep_unfinished && !shared() && !found_begun_) remove_new(receipts);
      return std::move(written).error();
    }
    make_report();
    return std::move(report_);
  }

 private:
  /// With others, at this moment: what is new may be theirs.
  bool shared() const { return options_.parts > 1 || options_.finish; }
  bool is_closing() const { return options_.parts == 1 || options_.finish; }

  Result<void> check_class_names() const {
    for (const std::string& name : set_.classes()) {
      if (name.find('\n') != std::string::npos)
        return Error(Code::invalid, "a class name with a line end cannot be kept",
                     "rename the class's folder")
            .at(name);
    }
    return {};
  }

  bool one_a_sample() const { return kind_.samples_a_shard != 0; }
  bool has_class_list() const {
    return kind_.class_list != ClassList::none && !set_.classes().empty();
  }

  /// What belongs to sets of these names, finished or not. Of formats that have no containers the
  /// first found: there may be millions.
  Result<std::set<std::string>> objects_there() const {
    std::set<std::string> objects;
    for (const SetPlace& place : places_) {
      const bool whole_folder = kind_.class_list != ClassList::beside;
      const std::string prefix = whole_folder ? folder_of(place.key) : place.key;
      const auto take = [&](ListPage&& page) -> Result<bool> {
        for (const ObjectInfo& object : page.objects) {
          if (kind_.owns(object.key, place.key) || object.key == class_list_key(kind_, place.key))
            objects.insert(object.key);
        }
        return objects.empty() || !one_a_sample();
      };
      const auto listed = destination_.list({.prefix = prefix}, options_.stop, take);
      if (!listed && listed.error().code() != Code::not_found) return listed.error();
    }
    return objects;
  }

  /// Of what was begun and discarded, nothing else had appeared: they are no set's.
  void forget_lone_class_lists() {
    std::set<std::string> lists;
    for (const SetPlace& place : places_) lists.insert(class_list_key(kind_, place.key));
    if (std::ranges::includes(lists, before_)) before_.clear();
  }

  Result<void> refuse_unless_replace() const {
    const std::string place = object_place(destination_.describe(), *before_.begin());
    if (one_a_sample()) {
      return Error(Code::invalid, "the folder is not empty",
                   "choose an empty folder, or remove what is in it")
          .at(place);
    }
    if (options_.replace) return {};
    return Error(Code::invalid, "there is a set of this name already",
                 "choose another name, or give --force to replace it")
        .at(place);
  }

  Result<void> write_part(Receipts& receipts) {
    const auto [first, last] = plan_.part(options_.part, options_.parts);
    std::vector<std::size_t> todo;
    for (std::size_t shard = first; shard < last; ++shard)
      if (!finished_.contains(shard)) todo.push_back(shard);
    HEADRACE_TRY(check_space(todo));
    if (options_.progress != nullptr) count_finished();
    if (!receipts.begun()) HEADRACE_TRY(receipts.begin(options_.stop));
    HEADRACE_TRY(write_classes());
    const unsigned jobs = std::max(1U, options_.jobs);
    const auto wide = static_cast<unsigned>(
        std::clamp<std::size_t>(todo.size(), 1, jobs));  // shards written at the same time
    const ReadAheadOptions reading{
        .requests = std::max(1U, options_.reading.requests / wide),
        .budget_bytes = std::max<std::uint64_t>(1, options_.reading.budget_bytes / wide)};
    return parallel_for(
        todo.size(), wide, options_.stop,
        [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
          const auto& shard = plan_.shards()[todo[i]];
          HEADRACE_TRY(auto receipt, converting::write_shard({.source = source_,
                                                              .set = set_,
                                                              .options = options_,
                                                              .context = context_,
                                                              .plan = plan_,
                                                              .kind = kind_,
                                                              .place = places_[shard.set],
                                                              .shard = shard,
                                                              .threads = std::max(1U, jobs / wide),
                                                              .reading = reading},
                                                             stop));
          HEADRACE_TRY(receipts.add(todo[i], receipt, stop));
          const MutexLock lock(mutex_);
          finished_.emplace(todo[i], std::move(receipt));
          return {};
        });
  }

  /// Before anything is made, where the least that will be written is known: bare pictures, copied.
  Result<void> check_space(const std::vector<std::size_t>& todo) const {
    constexpr std::array<std::string_view, 3> kBare{"folder", "lst", "csv"};
    const bool copied = std::ranges::find(kBare, set_.format()) != kBare.end() &&
                        !options_.change.apply && options_.compression.empty();
    if (options_.folder.empty() || !copied || options_.replace || options_.skip_bad) return {};
    std::uint64_t least = 0;
    for (const std::size_t number : todo) {
      const auto& shard = plan_.shards()[number];
      for (std::uint64_t id = shard.begin; id < shard.end; ++id)
        if (plan_.set_of(id) == shard.set) least += set_.frame_bytes(SampleId{id});
    }
    HEADRACE_TRY(const auto volume, local::volume_of(options_.folder));
    return local::check_space(volume, {least, 0},
                              "free space, or write to a folder on a larger volume, or to s3://…");
  }

  void count_finished() const {
    for (const auto& [shard, receipt] : finished_)
      options_.progress->samples.fetch_add(receipt.written.samples + receipt.skipped);
  }

  Result<void> write_classes() const {
    if (!has_class_list()) return {};
    for (const SetPlace& place : places_) {
      HEADRACE_TRY(put(destination_, class_list_key(kind_, place.key),
                       as_byte_span(classes_to_text(set_.classes())), options_.stop));
    }
    return {};
  }

  Result<void> close(Receipts& receipts) {
    HEADRACE_TRY(check_complete());
    for (std::size_t which = 0; which < places_.size(); ++which) {
      if (kind_.finish_set == nullptr) continue;
      std::vector<WrittenShard> shards;
      for (const auto& [number, receipt] : finished_)
        if (plan_.shards()[number].set == which) shards.push_back(receipt.written);
      HEADRACE_TRY(const auto keys, kind_.finish_set(places_[which], shards));
      closing_keys_.insert(closing_keys_.end(), keys.begin(), keys.end());
    }
    if (!one_a_sample()) {  // shards of another number of shards would be read as part of the set
      HEADRACE_TRY(auto stale, objects_there());
      for (const std::string& key : keys()) stale.erase(key);
      for (const std::string& key : stale) HEADRACE_TRY(destination_.remove(key, options_.stop));
    }
    HEADRACE_TRY(receipts.remove(options_.stop));
    report_.complete = true;
    return {};
  }

  Result<void> check_complete() const {
    std::size_t missing = 0;
    std::optional<std::size_t> first;
    for (std::size_t shard = 0; shard < plan_.shards().size(); ++shard) {
      if (finished_.contains(shard)) continue;
      ++missing;
      if (!first) first = shard;
    }
    if (missing == 0) return {};
    return Error(Code::invalid,
                 fmt::format("{} of {} shards are not written yet, the first of them is number {}",
                             missing, plan_.shards().size(), *first),
                 "run every --part to its end, with the same options, before --finish")
        .at(destination_.describe());
  }

  /// Of a set that was not finished nothing stays: its first shards would pass for a small set,
  /// and the next call would refuse to write over them. What an earlier call had begun stays as it
  /// is, begun.
  void remove_new(Receipts& receipts) {
    const auto now = objects_there();
    if (now) {
      for (const std::string& key : *now)
        if (before_.count(key) == 0) std::ignore = destination_.remove(key, {});
    }
    std::ignore = receipts.remove({});
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    if (has_class_list())
      for (const SetPlace& place : places_) keys.push_back(class_list_key(kind_, place.key));
    for (const auto& [shard, receipt] : finished_)
      keys.insert(keys.end(), receipt.written.keys.begin(), receipt.written.keys.end());
    keys.insert(keys.end(), closing_keys_.begin(), closing_keys_.end());
    return keys;
  }

  void make_report() {
    report_.sets = plan_.sets();
    for (WrittenSet& written : report_.sets) written.samples = 0;
    for (const auto& [shard, receipt] : finished_) {
      report_.sets[plan_.shards()[shard].set].samples += receipt.written.samples;
      report_.samples += receipt.written.samples;
      report_.record_bytes += receipt.written.bytes;
      report_.payload_bytes += receipt.payload_bytes;
      report_.skipped += receipt.skipped;
      for (const SkippedSample& one : receipt.first_skipped)
        if (report_.first_skipped.size() < ConvertReport::kListed)
          report_.first_skipped.push_back(one);
    }
    report_.keys = keys();
  }

  Store& source_;
  const Dataset& set_;
  Store& destination_;
  const ConvertOptions& options_;
  const Context& context_;
  const WriterKind& kind_;
  const Plan& plan_;
  std::vector<SetPlace> places_;
  std::set<std::string> before_;
  bool found_begun_ = false;  ///< by a call before this one
  std::vector<std::string> closing_keys_;
  ConvertReport report_;
  Mutex mutex_;  // while shards are written
  std::map<std::uint64_t, Receipt> finished_;
};

std::uint64_t bytes_of(const Dataset& set) {
  std::uint64_t bytes = 0;
  for (std::uint64_t id = 0; id < set.size(); ++id) bytes += set.frame_bytes(SampleId{id});
  return bytes;
}

}  // namespace

Result<void> check_convert(const ConvertOptions& options) {
  if (!(options.validation >= 0 && options.validation < 1)) {
    return Error(Code::invalid,
                 fmt::format("a share of {} for validation is not from 0 to less than 1",
                             options.validation));
  }
  if (options.parts == 0 || options.part == 0 || options.part > options.parts) {
    return Error(Code::invalid,
                 fmt::format("there is no part {} of {}", options.part, options.parts),
                 "parts are numbered from 1: --part 1/4 to --part 4/4");
  }
  HEADRACE_TRY(find_writer(options));
  return {};
}

Result<ConvertReport> convert(Store& source, const Dataset& set, Store& destination,
                              const ConvertOptions& options, const Context& context) {
  HEADRACE_TRY(check_convert(options));
  HEADRACE_TRY(const WriterKind* kind, find_writer(options));
  HEADRACE_TRY(const auto labels, read_labels(source, set, options, context));
  HEADRACE_TRY(const auto plan, Plan::make(set, options, *kind, labels));
  if (options.parts > plan.shards().size()) {
    return Error(
        Code::invalid,
        fmt::format("{} parts cannot share {} shards", options.parts, plan.shards().size()),
        "make more shards, with --shards or --shard-size");
  }
  std::optional<converting::LocalDestination> local;
  if (!options.folder.empty()) {
    const std::string key = plan.split() ? "split" : options.key;
    const std::uint64_t part = options.parts == 1 || options.finish ? 0 : options.part;
    HEADRACE_TRY(auto taken, converting::LocalDestination::take(options.folder, key, part));
    local.emplace(std::move(taken));
  }
  auto report = Conversion(source, set, destination, options, context, *kind, plan).run();
  if (!local) return report;
  if (!report) return local->explain(std::move(report).error(), bytes_of(set));
  local->keep();
  return report;
}

}  // namespace headrace
