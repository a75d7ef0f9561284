// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/shard_job.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "headrace/records/ordered_pool.h"
#include "headrace/records/read_ahead.h"

namespace headrace::converting {
namespace {

constexpr float kExactLabels = 16'777'216;  // 2^24: beyond it not every whole number is a float32

/// A sample on its way, as the threads hand it to the writer.
struct Ready {
  SampleId id{};
  std::string file;
  Result<Sample> sample;
};

/// What may be left out on request: the sample's own fault.
bool is_bad(const Error& error) {
  return error.code() == Code::corrupt || error.code() == Code::not_found ||
         error.code() == Code::denied;
}

class ShardWork {
 public:
  ShardWork(const ShardJob& job, const std::stop_token& stop)
      : job_(job),
        stop_(stop),
        reader_(job.source, job.set, stretch(job), job.reading, stop),
        pool_(job.options.change.apply ? job.threads : 0) {}

  Result<Receipt> run() {
    HEADRACE_TRY(auto writer, job_.kind.open(job_.place, job_.shard.number,
                                             job_.plan.sets()[job_.shard.set].shards));
    bool more = true;
    while (more || !pool_.empty()) {
      if (stop_.stop_requested()) return Error(Code::cancelled, "stopped");
      while (more && pool_.hungry()) more = hand_in();
      if (pool_.empty()) break;
      HEADRACE_TRY(write(*writer, pool_.take()));
      if (job_.options.progress != nullptr) job_.options.progress->samples.fetch_add(1);
    }
    HEADRACE_TRY(receipt_.written, writer->finish());
    return std::move(receipt_);
  }

 private:
  static Stretch stretch(const ShardJob& job) {
    Stretch stretch{.begin = job.shard.begin, .end = job.shard.end, .takes = {}};
    if (job.plan.split()) {
      stretch.takes = [&plan = job.plan, set = job.shard.set](SampleId id) {
        return plan.set_of(static_cast<std::uint64_t>(id)) == set;
      };
    }
    return stretch;
  }

  /// False after the last sample.
  bool hand_in() {
    auto answer = reader_.next();
    if (!answer) return false;
    auto shared = std::make_shared<ReadAhead::Answer>(*std::move(answer));
    pool_.hand_in([this, shared] { return prepare(*shared); });
    return true;
  }

  /// On a thread of the pool, if there is one.
  Ready prepare(const ReadAhead::Answer& answer) const {
    Ready ready{.id = answer.id, .file = {}, .sample = Error(Code::corrupt, "not looked at")};
    const auto look = [&](const Bytes& frame) -> Result<Sample> {
      HEADRACE_TRY(auto sample, job_.set.parse(answer.id, frame));
      ready.file = job_.set.file(answer.id, frame);
      if (job_.options.change.apply) {
        HEADRACE_TRY(sample.payload, job_.options.change.apply(sample.payload));
      }
      return sample;
    };
    ready.sample = look_twice<Sample>(job_.source, job_.set, answer.id, answer.frame,
                                      *job_.context.notices, stop_, look);
    return ready;
  }

  Result<void> write(ShardWriter& writer, Ready ready) {
    const std::string name = job_.set.name(ready.id);
    if (!ready.sample) {
      Error error = std::move(ready.sample).error();
      if (!is_bad(error) || !job_.options.skip_bad) return std::move(error).at(name);
      skip(name, error);
      return {};
    }
    const Sample& sample = *ready.sample;
    check_labels(sample, name);
    auto added = writer.add({.id = static_cast<std::uint64_t>(ready.id),
                             .labels = sample.labels,
                             .payload = sample.payload.span(),
                             .name = name,
                             .file = ready.file});
    if (!added) return std::move(added).at(name);
    receipt_.payload_bytes += sample.payload.size();
    if (job_.options.progress != nullptr)
      job_.options.progress->bytes.fetch_add(sample.payload.size());
    return {};
  }

  void check_labels(const Sample& sample, const std::string& name) const {
    for (const float label : sample.labels) {
      if (!(label > kExactLabels || label < -kExactLabels)) continue;
      job_.context.notices->add("label-precision",
                                fmt::format("label {} of {} is beyond 2^24, where float32 does not "
                                            "hold every whole number",
                                            label, name));
    }
  }

  void skip(const std::string& name, const Error& error) {
    ++receipt_.skipped;
    if (receipt_.first_skipped.size() < ConvertReport::kListed)
      receipt_.first_skipped.push_back({.name = name, .why = error.to_string()});
  }

  const ShardJob& job_;
  const std::stop_token stop_;
  ReadAhead reader_;
  Receipt receipt_;
  OrderedPool<Ready> pool_;  // its threads go first
};

}  // namespace

Result<Receipt> write_shard(const ShardJob& job, const std::stop_token& stop) {
  return ShardWork(job, stop).run();
}

}  // namespace headrace::converting
