// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "headrace/consumers/train/checkpoint.h"

namespace headrace {
namespace {

constexpr std::uint64_t kLogEvery = 20;  // steps, as the built-in classifier does

double to_seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

/// The pixels as numbers. The batch's memory is aligned for any of them.
std::span<float> floats_of(Batch& batch, std::size_t samples) {
  const auto bytes = batch.pixels();
  if (batch.count() == 0) return {};
  const std::size_t each = bytes.size() / batch.count() / sizeof(float);
  return {static_cast<float*>(static_cast<void*>(bytes.data())), samples * each};
}

}  // namespace

Trainer::Trainer(TrainerParts parts, TrainerOptions options, Progress progress)
    : parts_(std::move(parts)), options_(std::move(options)), progress_(std::move(progress)) {
  options_.schedule.updates_per_epoch = parts_.train.steps_per_epoch();
}

Result<Ended> Trainer::run(const std::stop_token& stop) {
  while (progress_.current.epoch < options_.epochs) {
    if (!progress_.validate) {
      HEADRACE_TRY(const Ended ended, train_epoch(stop));
      if (ended == Ended::stopped) return ended;
    }
    if (parts_.validation != nullptr) {
      HEADRACE_TRY(const Ended ended, validate(stop));
      if (ended == Ended::stopped) return ended;
    }
    HEADRACE_TRY(finish_epoch());
  }
  return Ended::finished;
}

Result<Ended> Trainer::train_epoch(const std::stop_token& stop) {
  // With several ranks a stop must not break one out of `next`, while the others wait for it in
  // the step: it is agreed upon there.
  const std::stop_token waits_stop = parts_.group.world() == 1 ? stop : std::stop_token();
  EpochRecord& current = progress_.current;
  const Nanos begun = parts_.clock.now();
  const double before = current.seconds;
  for (;;) {
    const State here = parts_.train.state();  // counts no step that is given up
    auto batch = parts_.train.next(waits_stop);
    current.seconds = before + to_seconds(parts_.clock.now() - begun);
    if (!batch && batch.error().code() == Code::cancelled) return stop_at(here);
    if (!batch) return std::move(batch).error();
    if (!*batch) {
      const EpochReport& report = parts_.train.epoch_report();
      if (report.epoch != current.epoch) {
        return Error(Code::invalid, fmt::format("the loader ended epoch {} during epoch {}",
                                                report.epoch, current.epoch));
      }
      HEADRACE_TRY(current.order_digest, sum_digests(report.order_digest));
      HEADRACE_TRY(current.set_digest, sum_digests(report.set_digest));
      break;
    }
    if (!first_batch_) first_batch_ = parts_.clock.now();
    const auto ended = step(***batch, stop);
    if (!ended && ended.error().code() == Code::cancelled) return stop_at(here);
    if (!ended) return ended.error();
    const std::uint64_t steps = (**batch)->step + 1;
    current.seconds = before + to_seconds(parts_.clock.now() - begun);
    log_speed(steps - 1);
    batch = std::optional<std::unique_ptr<Batch>>();  // gives the memory back before the next wait
    if (*ended == Ended::stopped) return stop_at(parts_.train.state());
    const bool due = options_.checkpoint_every != 0 && steps % options_.checkpoint_every == 0;
    if (due) HEADRACE_TRY(save("last.ckpt"));
  }
  parts_.log(
      fmt::format("Epoch[{}] Train-accuracy={:.6f}", current.epoch, current.train_accuracy()));
  parts_.log(fmt::format("Epoch[{}] Time cost={:.3f}", current.epoch, current.seconds));
  progress_.validate = true;
  if (parts_.validation != nullptr) HEADRACE_TRY(save("last.ckpt"));
  return Ended::finished;
}

Result<Ended> Trainer::step(Batch& batch, const std::stop_token& stop) {
  EpochRecord& current = progress_.current;
  HEADRACE_TRY(const auto classes, classes_of(batch));
  const double rate =
      options_.schedule.rate(batch.epoch * options_.schedule.updates_per_epoch + batch.step);
  log_rate(batch, rate);
  HEADRACE_TRY(const Marks marks,
               parts_.learner.train(lesson(batch, classes, stop), rate)
                   .at(fmt::format("epoch {} step {}", batch.epoch, batch.step)));
  current.train += marks;
  current.train.stop = false;
  if (options_.losses) {
    const auto samples = static_cast<double>(marks.samples);
    current.losses.push_back(samples > 0 ? marks.loss_sum / samples : 0.0);
  }
  return marks.stop ? Ended::stopped : Ended::finished;
}

Result<Ended> Trainer::validate(const std::stop_token& stop) {
  const std::stop_token waits_stop = parts_.group.world() == 1 ? stop : std::stop_token();
  Marks sum;
  for (;;) {
    auto batch = parts_.validation->next(waits_stop);
    if (!batch && batch.error().code() == Code::cancelled) return stop_at(parts_.train.state());
    if (!batch) return std::move(batch).error().at("validation");
    if (!*batch) break;
    HEADRACE_TRY(const auto classes, classes_of(***batch).at("validation"));
    auto marks = parts_.learner.evaluate(lesson(***batch, classes, stop));
    if (!marks && marks.error().code() == Code::cancelled) return stop_at(parts_.train.state());
    if (!marks) return std::move(marks).error().at("validation");
    sum += *marks;
    if (sum.stop) return stop_at(parts_.train.state());
  }
  progress_.current.validation = sum;
  parts_.log(fmt::format("Epoch[{}] Validation-accuracy={:.6f}", progress_.current.epoch,
                         *progress_.current.validation_accuracy()));
  return Ended::finished;
}

/// The job goes on from there.
Result<Ended> Trainer::stop_at(const State& where) {
  HEADRACE_TRY(save("last.ckpt", where));
  return Ended::stopped;
}

/// Of all ranks' shares, on rank 0; elsewhere nothing.
Result<std::string> Trainer::sum_digests(const Hash128& share) {
  HEADRACE_TRY(const auto shares, parts_.group.gather(share.to_hex()));
  Hash128 sum;
  for (const auto& text : shares) sum += Hash128::from_hex(text).value_or(Hash128());
  return shares.empty() ? std::string() : sum.to_hex();
}

Result<void> Trainer::finish_epoch() {
  const auto best = progress_.best_accuracy();
  const auto accuracy = progress_.current.validation_accuracy();
  const std::uint64_t next = progress_.current.epoch + 1;
  progress_.done.push_back(std::move(progress_.current));
  progress_.current = {};
  progress_.current.epoch = next;
  progress_.validate = false;
  if (accuracy && (!best || *accuracy > *best) && !options_.checkpoint.empty()) {
    parts_.log(fmt::format("Storing the best model with validation accuracy: {:.6f}", *accuracy));
    HEADRACE_TRY(save("best.ckpt"));
    parts_.log(fmt::format("Saved checkpoint to \"{}/best.ckpt\"", options_.checkpoint));
  }
  return save("last.ckpt");
}

Result<void> Trainer::save(const std::string& name) { return save(name, parts_.train.state()); }

Result<void> Trainer::save(const std::string& name, const State& where) {
  if (options_.checkpoint.empty()) return {};
  HEADRACE_TRY(const auto states, parts_.group.gather(where.to_text()));
  if (parts_.group.rank() != 0) return {};
  nlohmann::json meta = options_.job;
  meta["states"] = states;
  meta["progress"] = to_json(progress_);
  Checkpoint checkpoint;
  try {
    checkpoint.meta = meta.dump();
  } catch (const nlohmann::json::exception& problem) {  // a name that is no UTF-8
    return Error(Code::invalid,
                 fmt::format("the checkpoint cannot be written: {}", problem.what()));
  }
  HEADRACE_TRY(checkpoint.archive, parts_.learner.save());
  return write_checkpoint(options_.checkpoint + "/" + name, checkpoint);
}

/// One rank alone may give a step up; several agree at its end.
Lesson Trainer::lesson(Batch& batch, std::span<const std::int64_t> classes,
                       const std::stop_token& stop) const {
  Lesson lesson{floats_of(batch, classes.size()), classes, stop.stop_requested(), {}};
  if (parts_.group.world() == 1 && stop.stop_possible())
    lesson.give_up = [stop] { return stop.stop_requested(); };
  return lesson;
}

/// Of the slots that are no padding: padding comes last, and nothing is learnt from it.
Result<std::vector<std::int64_t>> Trainer::classes_of(const Batch& batch) const {
  std::vector<std::int64_t> classes;
  if (batch.count() != 0 && batch.label_width != 1) {
    return Error(
        Code::invalid,
        fmt::format("samples have {} labels each, and a classifier needs one", batch.label_width));
  }
  for (std::size_t i = 0; i < batch.count() && !batch.slots[i].padding; ++i) {
    const float label = batch.labels[i];
    if (!(label >= 0) || label >= static_cast<float>(options_.classes) ||
        label != std::floor(label)) {
      return Error(Code::invalid,
                   fmt::format("sample {} has label {}, which is none of the {} classes",
                               batch.slots[i].sample_id, label, options_.classes),
                   "--num-classes says how many there are");
    }
    classes.push_back(static_cast<std::int64_t>(label));
  }
  return classes;
}

void Trainer::log_speed(std::uint64_t step) {
  if (step == 0 || step % kLogEvery != 0) return;
  const EpochRecord& current = progress_.current;
  parts_.log(fmt::format("Epoch[{}] Batch [{}]\tSpeed: {:.3f} samples/sec\taccuracy={:.6f}",
                         current.epoch, step, current.samples_per_second(),
                         current.train_accuracy()));
}

void Trainer::log_rate(const Batch& batch, double rate) {
  if (options_.schedule.curve == Curve::step && last_rate_ > rate) {
    parts_.log(fmt::format("Update[{}]: Change learning rate to {:.5e}",
                           batch.epoch * options_.schedule.updates_per_epoch + batch.step, rate));
  }
  last_rate_ = rate;
}

}  // namespace headrace
