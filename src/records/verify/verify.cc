// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/records/decode_notice.h"
#include "headrace/records/mds/mds.h"
#include "headrace/records/parallel.h"
#include "headrace/records/picture_kind.h"
#include "headrace/records/verify/findings.h"

namespace headrace {
namespace {

using verifying::Findings;
using verifying::Merger;

/// A sample as far as it could be looked at.
struct Looked {
  Sample sample;
  PictureSize size;
};

class Verifier {
 public:
  Verifier(Store& store, const Dataset& set, const VerifyOptions& options, const Context& context,
           Merger merger)
      : store_(store),
        set_(set),
        options_(options),
        context_(context),
        merger_(std::move(merger)) {}

  Result<VerifyReport> run() {
    HEADRACE_TRY(wrong_shards_, find_wrong_shards(store_, set_, *context_.notices, options_.stop));
    const auto starts = cut();
    const unsigned jobs = std::max(1U, options_.jobs);
    const ReadAheadOptions reading{
        .requests = std::max(1U, options_.reading.requests / jobs),
        .budget_bytes = std::max<std::uint64_t>(1, options_.reading.budget_bytes / jobs)};
    HEADRACE_TRY(parallel_for(starts.size() - 1, jobs, options_.stop,
                              [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                HEADRACE_TRY(auto found,
                                             look_through(starts[i], starts[i + 1], reading, stop));
                                const MutexLock lock(mutex_);
                                return merger_.add(std::move(found));
                              }));
    const MutexLock lock(mutex_);
    VerifyReport report = merger_.finish();
    report.decoded = static_cast<bool>(options_.decode);
    for (const Notice& notice : context_.notices->all())
      if (notice.kind == "shards-missing") report.missing = notice.text;
    return report;
  }

 private:
  /// Stretches of about the same work; what they find is merged, so their ends change nothing.
  std::vector<std::uint64_t> cut() const {
    constexpr std::uint64_t kBytes = 64U << 20U;
    constexpr std::uint64_t kSamples = 4096;
    std::vector<std::uint64_t> starts = {0};
    std::uint64_t bytes = 0;
    for (std::uint64_t id = 0; id < set_.size(); ++id) {
      if (bytes >= kBytes || id - starts.back() >= kSamples) {
        starts.push_back(id);
        bytes = 0;
      }
      bytes += set_.frame_bytes(SampleId{id});
    }
    starts.push_back(set_.size());
    return starts;
  }

  Result<Findings> look_through(std::uint64_t begin, std::uint64_t end,
                                const ReadAheadOptions& reading, const std::stop_token& stop) {
    Findings found(set_);
    ReadAhead reader(store_, set_, {.begin = begin, .end = end, .takes = {}}, reading, stop);
    while (const auto answer = reader.next()) {
      if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
      HEADRACE_TRY(check(*answer, found, stop));
      if (options_.progress == nullptr) continue;
      options_.progress->samples.fetch_add(1);
      if (answer->frame) options_.progress->bytes.fetch_add(answer->frame->size());
    }
    return found;
  }

  Result<void> check(const ReadAhead::Answer& answer, Findings& found,
                     const std::stop_token& stop) {
    if (const std::string why = wrong_shard(answer.id); !why.empty()) {
      found.add_bad(answer.id, why);
      return {};
    }
    std::string kind;
    const auto looked =
        look_twice<Looked>(store_, set_, answer.id, answer.frame, *context_.notices, stop,
                           [&](const Bytes& frame) { return look(answer.id, frame, kind); });
    if (!kind.empty()) found.add_kind(kind);
    if (looked) {
      found.add_good(answer.id, looked->sample, looked->size);
      return {};
    }
    // What may succeed later says nothing about the set.
    const Code code = looked.error().code();
    if (code == Code::unavailable || code == Code::exhausted || code == Code::cancelled)
      return looked.error();
    found.add_bad(answer.id, answer.frame ? looked.error().cause() : looked.error().to_string());
    return {};
  }

  /// Why no sample of its shard can be believed; empty: they can.
  std::string wrong_shard(SampleId id) const {
    const auto shard = std::ranges::upper_bound(wrong_shards_, static_cast<std::uint64_t>(id), {},
                                                &WrongShard::end);
    const bool within =
        shard != wrong_shards_.end() && shard->begin <= static_cast<std::uint64_t>(id);
    return within ? shard->why : std::string();
  }

  Result<Looked> look(SampleId id, const Bytes& frame, std::string& kind) const {
    HEADRACE_TRY(auto sample, set_.parse(id, frame));
    const ByteSpan payload = sample.payload.span();
    kind = picture_kind(payload);
    HEADRACE_TRY(check_label(sample));
    PictureSize size;
    if (options_.decode) {
      auto decoded = options_.decode(payload);
      // The decoder's `exhausted` is a limit on pictures, so it is the picture's fault.
      if (!decoded) return Error(Code::corrupt, decoded.error().cause());
      size = decoded->size;
      for (const std::string& warning : decoded->warnings)
        note_decoded_in_spite(*context_.notices, set_.name(id), warning);
    } else if (const auto problem = picture_problem(payload); !problem.empty()) {
      return Error(Code::corrupt, problem);
    }
    return Looked{.sample = std::move(sample), .size = size};
  }

  /// Where classes have names, a single label is the number of one.
  Result<void> check_label(const Sample& sample) const {
    const std::size_t classes = set_.classes().size();
    if (classes == 0 || sample.labels.size() != 1) return {};
    const float label = sample.labels[0];
    if (label >= 0 && label < static_cast<float>(classes) && label == std::trunc(label)) return {};
    return Error(Code::corrupt,
                 fmt::format("label {} is no class of the {} in the list", label, classes));
  }

  Store& store_;
  const Dataset& set_;
  const VerifyOptions& options_;
  const Context& context_;
  std::vector<WrongShard> wrong_shards_;
  Mutex mutex_;
  Merger merger_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<VerifyReport> verify(Store& store, const Dataset& set, const VerifyOptions& options,
                            const Context& context) {
  HEADRACE_TRY(auto merger, Merger::make(set));
  return Verifier(store, set, options, context, std::move(merger)).run();
}

}  // namespace headrace
