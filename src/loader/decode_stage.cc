// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/decode_stage.h"

#include <fmt/format.h>

#include <utility>

#include "headrace/base/digest.h"
#include "headrace/decode/png_picture.h"
#include "headrace/loader/fetcher.h"
#include "headrace/records/decode_notice.h"
#include "headrace/sampling/order.h"

namespace headrace {
namespace {

/// Several batches are on their way: from this size of one on they do not wait in a cache for who
/// takes them, who was measured to gain as well (docs/PERFORMANCE.md).
constexpr std::size_t kStreamedBatch = std::size_t{8} << 20U;

/// What one look at a sample found wrong.
struct Trouble {
  Error error;
  bool bad_sample = false;  ///< the sample's own fault: policy decides
  bool suspicious = false;  ///< may be the fault of a cache or of memory on the way
};

/// A record that is not what it claims to be, or is gone, is a bad sample. What may succeed
/// later, an object that was replaced, rights and a full disk are no sample's fault: skipping
/// them would lose data in silence.
Trouble from_feed(Error error) {
  const Code code = error.code();
  return {.error = std::move(error),
          .bad_sample = code == Code::corrupt || code == Code::not_found,
          .suspicious = code == Code::corrupt || code == Code::changed};
}

/// The decoder's `exhausted` is a limit on pictures (pixels, scans), so it is the picture's fault.
Trouble from_decoder(Error error) {
  const bool bad = error.code() == Code::corrupt || error.code() == Code::exhausted;
  return {.error = std::move(error), .bad_sample = bad, .suspicious = bad};
}

class DecodeThread {
 public:
  DecodeThread(const DecodeJob& job, std::stop_token stop)
      : job_(job), stop_(std::move(stop)), decoder_(job.options.limits) {
    decoder_.stream_samples(job.options.batch * job.options.transform.sample_bytes() >=
                            kStreamedBatch);
  }

  void run() {
    while (const auto task = job_.window.take(stop_)) {
      Item& item = task->work->items[task->index];
      if (item.in_parts) {
        look_at_parts(*task, item);
        continue;
      }
      auto trouble = look(*task, item);
      if (trouble) {
        settle(*task, item, std::move(*trouble));
      } else {
        if (item.suspicion) note_second_look(item);
        job_.window.finish(*task->work, task->index);
      }
    }
  }

 private:
  /// Decodes what came; the sample's labels and terms are in the item afterwards.
  std::optional<Trouble> look(const Window::Task& task, Item& item) {
    auto frame = std::move(*item.got);
    item.got.reset();
    if (!frame) {
      Trouble trouble = from_feed(std::move(frame).error());
      // Where the next sample follows this one in a stream, what fails is the stream.
      trouble.bad_sample = trouble.bad_sample && job_.feed.random_access();
      return trouble;
    }
    const Nanos before = job_.context.clock->now();
    auto parsed = job_.feed.parse(SampleId{item.slot.sample_id}, *frame);
    if (!parsed) return from_feed(std::move(parsed).error());
    Sample& sample = *parsed;
    const Hash128 payload = hash_bytes(sample.payload.span());
    if (job_.options.decode) {
      const SampleKey key{
          .seed = job_.options.seed, .epoch = task.work->epoch, .sample_id = item.slot.sample_id};
      auto decoded = decode(sample.payload.span(), key, payload, task.pixels);
      count_time(before);
      if (!decoded) return from_decoder(std::move(decoded).error());
      const SampleId id{item.slot.sample_id};
      note_warnings(id, sample.payload.span());
      if (job_.parts) job_.parts->note(id, *frame, sample, payload, decoder_.outline());
    } else {
      count_time(before);
    }
    deliver(item, std::move(sample.labels), payload);
    return std::nullopt;
  }

  /// Of a record that was seen whole before, what its plan says is here. If that does not do after
  /// all, the whole record comes again.
  void look_at_parts(const Window::Task& task, Item& item) {
    const auto plan = std::exchange(item.plan, nullptr);
    const Bytes frame = **std::exchange(item.got, std::nullopt);
    const Bytes payload = frame.slice(plan->payload_begin, plan->payload_bytes);
    const SampleKey key{
        .seed = job_.options.seed, .epoch = task.work->epoch, .sample_id = item.slot.sample_id};
    const SeekUse seek{
        .index = job_.seeks->get(key.sample_id), .payload = plan->payload, .there = plan->there};
    const Nanos before = job_.context.clock->now();
    const auto decoded =
        decoder_.decode_into(payload.span(), job_.options.transform, key, task.pixels, &seek);
    count_time(before);
    if (!decoded) {
      item.in_parts = false;
      return ask_again(task, item, false);
    }
    note_warnings(SampleId{item.slot.sample_id}, payload.span());
    deliver(item, plan->labels, plan->payload);
    job_.window.finish(*task.work, task.index);
  }

  static void deliver(Item& item, std::vector<float> labels, const Hash128& payload) {
    item.set = set_term(labels, payload);
    item.order = order_term(item.slot.position, item.slot.sample_id, labels, payload);
    item.labels = std::move(labels);
  }

  Result<void> decode(ByteSpan encoded, const SampleKey& key, const Hash128& payload,
                      std::span<std::byte> pixels) {
    const Transform& transform = job_.options.transform;
    if (job_.seeks == nullptr) return decoder_.decode_into(encoded, transform, key, pixels);
    const SeekUse seek{
        .index = job_.seeks->get(key.sample_id), .payload = payload, .record = &seek_};
    seek_.clear();
    HEADRACE_TRY(decoder_.decode_into(encoded, transform, key, pixels, &seek));
    job_.seeks->put(key.sample_id, seek_);
    return {};
  }

  void count_time(Nanos before) {
    const auto spent = (job_.context.clock->now() - before).count();
    job_.context.metrics->add(Metric::decode_nanos, static_cast<std::uint64_t>(spent));
  }

  void settle(const Window::Task& task, Item& item, Trouble trouble) {
    const SampleId id{item.slot.sample_id};
    const bool can_go_back = job_.feed.random_access();
    if (trouble.suspicious && !item.looked_again && can_go_back) {
      item.looked_again = true;
      item.suspicion = std::move(trouble.error);
      return ask_again(task, item, true);
    }
    Error error = std::move(trouble.error).at(job_.dataset.name(id));
    if (!trouble.bad_sample) return job_.window.fail(*task.work, task.index, std::move(error));
    if (!item.damage) item.damage = error;
    switch (job_.options.on_bad) {
      case OnBad::error:
        return job_.window.fail(*task.work, task.index, with_policies(error));
      case OnBad::skip:
        item.left_out = true;
        return job_.window.finish(*task.work, task.index);
      case OnBad::substitute:
        break;
    }
    if (item.attempt == kSubstituteAttempts) {
      return job_.window.fail(
          *task.work, task.index,
          Error(error.code(), fmt::format("bad, and so are {} substitutes; the last: {}",
                                          kSubstituteAttempts, error.to_string()))
              .at(item.damage->place()));
    }
    const Order order(job_.options.shuffle, job_.options.seed, task.work->epoch,
                      job_.epoch_samples);
    item.slot.sample_id = order.substitute(item.slot.position, item.attempt);
    item.slot.substitute = true;
    item.looked_again = false;
    item.suspicion.reset();
    ++item.attempt;
    ask_again(task, item, false);
  }

  /// Memory, a page cache or a disk gave wrong bytes once: it will again.
  void note_second_look(const Item& item) {
    job_.context.notices->add(
        "read-again",
        fmt::format("{} was damaged when it was read first ({}) and good when it was "
                    "read again past the caches: this machine's memory or disk may "
                    "be failing",
                    job_.dataset.name(SampleId{item.slot.sample_id}), item.suspicion->cause()));
  }

  void ask_again(const Window::Task& task, Item& item, bool fresh) {
    Window& window = job_.window;
    Work* const work = task.work;
    const std::size_t index = task.index;
    FeedRequest request = request_for(*work, item, stop_);
    request.out_of_order = true;
    request.fresh = fresh;
    // More than was reserved for the place is taken without waiting: others wait for this batch.
    const auto bytes = job_.dataset.frame_bytes(request.sample);
    if (bytes > item.grant.bytes()) {
      item.grant.release();
      item.grant = job_.budget.take(bytes);
    }
    window.start_again(*work);
    job_.feed.fetch(request, [&window, work, index](Result<Bytes> got) {
      window.arrived(*work, index, std::move(got));
    });
    job_.feed.flush();
  }

  /// What mends the picture, if that is known, and how to go on until it is mended.
  static Error with_policies(const Error& error) {
    std::string remedy = "--on-bad skip or substitute goes on without it";
    if (!error.remedy().empty()) remedy = error.remedy() + "; " + remedy;
    return Error(error.code(), error.cause(), std::move(remedy)).at(error.place());
  }

  void note_warnings(SampleId id, ByteSpan encoded) {
    for (const std::string& warning : decoder_.warnings())
      note_decoded_in_spite(*job_.context.notices, job_.dataset.name(id), warning);
    if (has_sixteen_bits(encoded)) {
      job_.context.notices->add(
          "png-16-bit", fmt::format("{} has 16 bits a channel, of which the upper 8 are taken",
                                    job_.dataset.name(id)));
    }
  }

  const DecodeJob& job_;
  const std::stop_token stop_;
  Decoder decoder_;
  std::vector<std::byte> seek_;  ///< what the last decode recorded
};

}  // namespace

void run_decode_stage(const DecodeJob& job, const std::stop_token& stop) {
  DecodeThread(job, stop).run();
}

}  // namespace headrace
