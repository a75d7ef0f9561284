// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/verify.h"

#include <algorithm>
#include <utility>

#include "headrace/base/mapped_array.h"
#include "headrace/records/picture_kind.h"

namespace headrace {
namespace {

struct Seen {
  Hash128 payload;
  std::uint64_t sample;
  std::uint32_t bytes;  // of the payload, for the report; cut at 4 GiB
  float label;
};

class Verifier {
 public:
  Verifier(Store& store, const Dataset& set, const VerifyOptions& options, MappedArray<Seen> seen)
      : set_(set),
        options_(options),
        reader_(store, set, options.reading, options.stop),
        seen_(std::move(seen)) {}

  Result<VerifyReport> run() {
    while (auto answer = reader_.next()) {
      if (options_.stop.stop_requested()) return Error(Code::cancelled, "stopped");
      HEADRACE_TRY(check(answer->id, std::move(answer->frame)));
      if (options_.progress != nullptr) options_.progress->samples.fetch_add(1);
    }
    find_repeated();
    return std::move(report_);
  }

 private:
  Result<void> check(SampleId id, Result<Bytes>&& frame) {
    ++report_.samples;
    if (!frame) {
      // What may succeed later says nothing about the set.
      const Code code = frame.error().code();
      if (code == Code::unavailable || code == Code::exhausted || code == Code::cancelled)
        return std::move(frame).error();
      add_bad(id, frame.error().to_string());
      return {};
    }
    if (options_.progress != nullptr) options_.progress->bytes.fetch_add(frame->size());
    const auto sample = set_.parse(id, *frame);
    if (!sample) {
      add_bad(id, sample.error().cause());
      return {};
    }
    const ByteSpan payload = sample->payload.span();
    ++report_.kinds[std::string(picture_kind(payload))];
    if (const auto problem = picture_problem(payload); !problem.empty()) {
      add_bad(id, std::string(problem));
      return {};
    }
    return add_good(id, *sample);
  }

  void add_bad(SampleId id, std::string why) {
    ++report_.bad;
    if (report_.first_bad.size() == VerifyReport::kListed) return;
    const Extent extent = set_.locate(id);
    report_.first_bad.push_back({.name = set_.name(id),
                                 .sample = static_cast<std::uint64_t>(id),
                                 .key = extent.key,
                                 .begin = extent.range.offset,
                                 .end = extent.range.offset + extent.range.length,
                                 .why = std::move(why)});
  }

  Result<void> add_good(SampleId id, const Sample& sample) {
    constexpr std::size_t kMaxLabels = 100'000;
    const std::uint64_t bytes = sample.payload.size();
    const Hash128 hash = hash_bytes(sample.payload.span());
    const float label = sample.labels.empty() ? 0 : sample.labels[0];
    report_.smallest = report_.good == 0 ? bytes : std::min(report_.smallest, bytes);
    report_.largest = std::max(report_.largest, bytes);
    ++report_.good;
    report_.payload_bytes += bytes;
    report_.set_digest += set_term(sample.labels, hash);
    if (report_.labels.size() < kMaxLabels || report_.labels.contains(label))
      ++report_.labels[label];
    return seen_.append(
        Seen{.payload = hash,
             .sample = static_cast<std::uint64_t>(id),
             .bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffffffU)),
             .label = label});
  }

  void find_repeated() {
    const auto seen = seen_.span();
    std::ranges::sort(seen, [](const Seen& a, const Seen& b) {
      return a.payload != b.payload ? a.payload < b.payload : a.sample < b.sample;
    });
    auto& groups = report_.first_repeated;
    for (std::size_t begin = 0; begin < seen.size();) {
      std::size_t end = begin + 1;
      while (end < seen.size() && seen[end].payload == seen[begin].payload) ++end;
      if (end - begin > 1) {
        report_.repeated += end - begin - 1;
        if (groups.size() < VerifyReport::kListed)
          groups.push_back(group(seen.subspan(begin, end - begin)));
      }
      begin = end;
    }
    std::ranges::stable_sort(groups, std::ranges::greater(), &SameContent::count);
  }

  SameContent group(std::span<const Seen> same) const {
    constexpr std::size_t kNames = 10;
    SameContent found{.bytes = same[0].bytes, .names = {}, .count = same.size()};
    for (const Seen& one : same) {
      found.labels_differ = found.labels_differ || one.label != same[0].label;
      if (found.names.size() < kNames) found.names.push_back(set_.name(SampleId{one.sample}));
    }
    return found;
  }

  const Dataset& set_;
  const VerifyOptions& options_;
  ReadAhead reader_;
  MappedArray<Seen> seen_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify(Store& store, const Dataset& set, const VerifyOptions& options) {
  HEADRACE_TRY(auto seen, MappedArray<Seen>::make());
  return Verifier(store, set, options, std::move(seen)).run();
}

}  // namespace headrace
