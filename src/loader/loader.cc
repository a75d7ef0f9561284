// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "headrace/loader/decode_stage.h"
#include "headrace/loader/epoch_costs.h"
#include "headrace/loader/fetcher.h"
#include "headrace/loader/memory_share.h"
#include "headrace/loader/part_reads.h"
#include "headrace/loader/processors.h"
#include "headrace/loader/quarantine.h"
#include "headrace/loader/seek_librarian.h"
#include "headrace/loader/tally.h"
#include "headrace/loader/window.h"
#include "headrace/sampling/class_table.h"

namespace headrace {
namespace {

/// Places in all batches on their way: two seconds at 4,000 samples a second.
constexpr std::size_t kItems = 8192;
constexpr unsigned kMaxThreads = 1024;  // more only wait for each other, and may not start

Result<void> check_same(std::string_view what, std::string_view then, std::string_view now) {
  if (then == now) return {};
  return Error(Code::invalid,
               fmt::format("the state was saved with {} {}, this job has {}", what, then, now),
               "resume with the options of the job that saved it");
}

Result<void> check_same(std::string_view what, std::uint64_t then, std::uint64_t now) {
  return check_same(what, fmt::format("{}", then), fmt::format("{}", now));
}

/// Where the job begins, as a state without sums.
State start_of(const Dataset& dataset, const LoaderOptions& options, const Plan& plan) {
  return {.seed = options.seed,
          .shuffle = options.shuffle,
          .epoch = options.first_epoch,
          .samples = dataset.size(),
          .global_batch = plan.global_batch(),
          .rank = options.rank,
          .world = options.world,
          .tail = std::string(to_string(options.tail)),
          .fingerprint = dataset.fingerprint().to_hex(),
          .transform = options.decode ? options.transform.to_text() : "none"};
}

/// What of `saved` this rank goes on from, if it is of the same job.
Result<State> resume_from(const State& saved, const State& start, std::uint64_t end_epoch) {
  if (saved.fingerprint != start.fingerprint || saved.samples != start.samples) {
    return Error(Code::changed,
                 fmt::format("the state was saved for another data set: {} samples, fingerprint "
                             "{}; this one has {}, {}",
                             saved.samples, saved.fingerprint, start.samples, start.fingerprint),
                 "resume with the data set as it was, or begin anew");
  }
  HEADRACE_TRY(check_same("seed", saved.seed, start.seed));
  HEADRACE_TRY(check_same("shuffle", to_string(saved.shuffle), to_string(start.shuffle)));
  HEADRACE_TRY(check_same("a batch over all ranks of", saved.global_batch, start.global_batch));
  HEADRACE_TRY(check_same("tail", saved.tail, start.tail));
  if (saved.selection != start.selection) {
    return Error(Code::invalid, "the state was saved with other proportions or weights",
                 "resume with the options of the job that saved it");
  }
  HEADRACE_TRY(check_same("transform", saved.transform, start.transform));
  if (saved.epoch < start.epoch || saved.epoch > end_epoch) {
    return Error(Code::invalid,
                 fmt::format("the state is in epoch {}, this job has epochs {} to {}", saved.epoch,
                             start.epoch, end_epoch));
  }
  return state_for_rank(saved, start.rank, start.world);
}

/// What shuffle `balanced` draws from; null for the others.
Result<std::unique_ptr<const ClassTable>> classes_of(const Dataset& dataset,
                                                     const Shuffle& shuffle) {
  if (shuffle.scheme != Shuffle::Scheme::balanced || dataset.size() == 0) return nullptr;
  auto table = ClassTable::make(
      dataset.size(), [&dataset](std::uint64_t sample) { return dataset.label(SampleId{sample}); });
  if (!table) return std::move(table).error().at("shuffle balanced");
  return std::make_unique<const ClassTable>(*std::move(table));
}

class LoaderImpl final : public Loader {
 public:
  struct Parts {
    const Context& context;
    Feed& feed;
    const Dataset& dataset;
    const LoaderOptions& options;
    Plan plan;
    State state;
    std::uint64_t first_step = 0;
    Quarantine quarantine;
    std::unique_ptr<const ClassTable> classes;  ///< what the options' shuffle draws from
    std::unique_ptr<const Selection> selection;
  };

  explicit LoaderImpl(Parts parts)
      : context_(parts.context),
        feed_(parts.feed),
        dataset_(parts.dataset),
        options_(parts.options),
        classes_(std::move(parts.classes)),
        selection_(std::move(parts.selection)),
        plan_(parts.plan),
        state_(std::move(parts.state)),
        step_(parts.first_step),
        tally_(dataset_, options_, plan_, std::move(parts.quarantine)),
        costs_(*context_.metrics),
        share_(share_memory(options_)),
        budget_(share_.encoded_bytes, options_.first_bytes),
        pool_(options_.batch, sample_bytes(), 1, kUnlimited, options_.pin),
        window_(context_,
                {.depth = share_.depth,
                 .items = std::max<std::size_t>(kItems, 2 * options_.batch),
                 .requests = std::max(1U, options_.max_requests),
                 .budget = &budget_},
                [this](std::size_t count) { return pool_.acquire(count, {}); }) {
    const Walk walk(plan_, {.seed = options_.seed,
                            .shuffle = options_.shuffle,
                            .first_epoch = state_.epoch,
                            .first_step = step_,
                            .end_epoch = end_epoch()});
    remember_seeks();
    remember_parts();
    fetcher_ = std::jthread([this, walk] {
      run_fetcher({.feed = feed_,
                   .dataset = dataset_,
                   .budget = budget_,
                   .window = window_,
                   .at_epoch_end = [this](std::uint64_t epoch) { costs_.fetched(epoch); },
                   .parts = parts_.get()},
                  walk, stop_.get_token());
    });
    const unsigned threads = options_.threads == 0 ? processors() : options_.threads;
    for (unsigned i = 0; i < threads; ++i) {
      decoders_.emplace_back([this] {
        run_decode_stage({context_, feed_, dataset_, options_, budget_, window_, seeks_.get(),
                          parts_.get(), plan_.options().samples},
                         stop_.get_token());
      });
    }
  }
  LoaderImpl(const LoaderImpl&) = delete;
  LoaderImpl& operator=(const LoaderImpl&) = delete;

  ~LoaderImpl() override {
    for (SeekLibrarian* librarian : {librarian_.get(), part_librarian_.get()}) {
      if (librarian == nullptr) continue;
      librarian->end(stopped_ ? SeekLibrarian::End::now : SeekLibrarian::End::saved);
    }
    stop_.request_stop();
    fetcher_ = {};  // joins
    decoders_.clear();
    feed_.flush();  // what was held back has a completion too
    window_.wait_idle();
  }

  Result<std::optional<std::unique_ptr<Batch>>> next(const std::stop_token& stop) override {
    if (error_) return Error(*error_);
    if (state_.epoch >= end_epoch()) return std::optional<std::unique_ptr<Batch>>();
    if (!started_) {
      started_ = context_.clock->now();
    }
    if (step_ >= plan_.steps()) {
      end_epoch_here();
      return std::optional<std::unique_ptr<Batch>>();
    }
    auto batch = take_batch(stop);
    if (batch) return std::optional<std::unique_ptr<Batch>>(*std::move(batch));
    stopped_ = true;
    if (batch.error().code() != Code::cancelled) error_ = batch.error();
    return std::move(batch).error();
  }

  const EpochReport& epoch_report() const override { return report_; }
  State state() const override { return state_; }
  std::uint64_t steps_per_epoch() const override { return plan_.steps(); }

  Progress progress() const override {
    return {.epoch = progress_epoch_.load(std::memory_order_relaxed),
            .step = progress_step_.load(std::memory_order_relaxed),
            .steps = plan_.steps(),
            .samples = progress_samples_.load(std::memory_order_relaxed),
            .bytes_in_flight = budget_.used(),
            .waits_for = window_.waits_for()};
  }

 private:
  static constexpr std::size_t kUnlimited = ~std::size_t{0};  // the window bounds what is made

  std::uint64_t end_epoch() const { return options_.first_epoch + options_.epochs; }
  std::size_t sample_bytes() const {
    return options_.decode ? options_.transform.sample_bytes() : 0;
  }

  Result<std::unique_ptr<Batch>> take_batch(const std::stop_token& stop) {
    const Nanos before = context_.clock->now();
    auto popped = window_.pop(stop);
    context_.metrics->add(Metric::wait_next_nanos,
                          static_cast<std::uint64_t>((context_.clock->now() - before).count()));
    if (!popped) {
      if (const auto bad = window_.failed_place()) HEADRACE_TRY(tally_.list(*bad));
      return std::move(popped).error();
    }
    Work& work = **popped;
    HEADRACE_TRY(tally_.add(work, state_));
    ++step_;
    state_.position = plan_.position_after(step_);
    publish_progress();
    auto batch = fill_in(work);
    if (options_.tail == Tail::wrap) {  // counted as padding, delivered as any other sample
      for (Slot& slot : batch->slots) slot.padding = false;
    }
    return std::unique_ptr<Batch>(std::move(batch));
  }

  /// Only epochs that follow can use what the first one finds out, or the next job.
  void remember_seeks() {
    const bool again = end_epoch() > state_.epoch + 1 || options_.seek_store != nullptr;
    if (!options_.decode || options_.seek_bytes == 0 || !again) return;
    auto seeks = SeekMemory::make(dataset_.size(), options_.seek_bytes);
    if (!seeks) return context_.notices->add("seek-memory", seeks.error().to_string());
    seeks_ = *std::move(seeks);
    if (options_.seek_store == nullptr) return;
    librarian_ = std::make_unique<SeekLibrarian>(
        SeekShelf(*options_.seek_store, options_.seek_place, dataset_.fingerprint().to_hex(),
                  dataset_.size(), options_.rank),
        *seeks_, context_);
  }

  void remember_parts() {
    if (!options_.partial_reads || !seeks_) return;
    if (!feed_.reads_parts()) {
      return context_.notices->add(
          "partial-reads", "records are read whole: parts of what they lie in cannot be checked");
    }
    auto parts = PartReads::make(dataset_, options_, *seeks_);
    if (!parts) return context_.notices->add("partial-reads", parts.error().to_string());
    parts_ = *std::move(parts);
    if (options_.seek_store == nullptr) return;
    part_librarian_ = std::make_unique<SeekLibrarian>(
        SeekShelf(*options_.seek_store, options_.seek_place, PartReads::name(dataset_, options_),
                  dataset_.size(), options_.rank, "jpeg-parts"),
        parts_->notes(), context_);
  }

  void end_epoch_here() {
    if (librarian_) librarian_->save();
    if (part_librarian_) part_librarian_->save();
    stopped_ = false;
    state_.ledger.dropped += plan_.dropped();
    state_.ledger.asked += plan_.dropped();
    report_ = {.epoch = state_.epoch,
               .ledger = state_.ledger,
               .order_digest = state_.order_digest,
               .set_digest = state_.set_digest,
               .in_parts = state_.in_parts,
               .seconds = std::chrono::duration<double>(context_.clock->now() - *started_).count(),
               .metrics = costs_.take(state_.epoch)};
    started_.reset();
    ++state_.epoch;
    state_.position = 0;
    state_.ledger = {};
    state_.order_digest = {};
    state_.set_digest = {};
    state_.in_parts = 0;
    step_ = 0;
    publish_progress();
  }

  void publish_progress() {
    progress_epoch_.store(state_.epoch, std::memory_order_relaxed);
    progress_step_.store(step_, std::memory_order_relaxed);
    progress_samples_.store(state_.ledger.delivered + state_.ledger.substituted,
                            std::memory_order_relaxed);
  }

  const Context context_;
  Feed& feed_;
  const Dataset& dataset_;
  const LoaderOptions options_;
  const std::unique_ptr<const ClassTable> classes_;
  const std::unique_ptr<const Selection> selection_;
  const Plan plan_;

  // The consumer's.
  State state_;
  std::uint64_t step_;
  Tally tally_;
  EpochReport report_;
  EpochCosts costs_;
  std::optional<Nanos> started_;
  std::optional<Error> error_;
  bool stopped_ = false;  ///< in the middle of an epoch
  std::atomic<std::uint64_t> progress_epoch_ = 0, progress_step_ = 0, progress_samples_ = 0;

  // Shared; the threads go first.
  std::stop_source stop_;
  const MemoryShare share_;
  ByteBudget budget_;
  BatchPool pool_;
  Window window_;
  std::unique_ptr<SeekMemory> seeks_;  ///< null: a single epoch, or no room
  std::unique_ptr<PartReads> parts_;   ///< null: every record is read whole
  std::unique_ptr<SeekLibrarian> librarian_;
  std::unique_ptr<SeekLibrarian> part_librarian_;
  std::vector<std::jthread> decoders_;
  std::jthread fetcher_;
};

}  // namespace

Result<void> check_loader_options(const LoaderOptions& options) {
  HEADRACE_TRY(Plan::make({.batch = options.batch,
                           .rank = options.rank,
                           .world = options.world,
                           .tail = options.tail}));
  if (!(options.max_bad >= 0.0 && options.max_bad <= 1.0)) {
    return Error(Code::invalid,
                 fmt::format("max-bad {} is not a share from 0 to 1", options.max_bad));
  }
  HEADRACE_TRY(check_transform(options.transform));
  HEADRACE_TRY(check_partial_reads(options));
  if (options.threads > kMaxThreads) {
    return Error(Code::invalid,
                 fmt::format("{} decode threads are more than {}", options.threads, kMaxThreads),
                 "0 takes as many as there are processors");
  }
  return {};
}

Result<std::unique_ptr<Loader>> Loader::make(const Context& context, Feed& feed,
                                             const Dataset& dataset, const LoaderOptions& options,
                                             const std::optional<State>& resume) {
  HEADRACE_TRY(check_loader_options(options));
  LoaderOptions own = options;
  HEADRACE_TRY(auto selection, selection_of(dataset, options.selection, options.shuffle));
  own.shuffle.selection = selection.get();
  HEADRACE_TRY(const Plan plan,
               Plan::make({.samples = selection ? selection->size() : dataset.size(),
                           .batch = options.batch,
                           .rank = options.rank,
                           .world = options.world,
                           .tail = options.tail}));
  if (options.on_bad == OnBad::substitute && !feed.random_access()) {
    return Error(Code::invalid, "a pipe cannot go back for a substitute",
                 "use --on-bad skip or error with mode pipe");
  }
  State state = start_of(dataset, options, plan);
  if (selection) state.selection = selection->fingerprint();
  if (resume) {
    HEADRACE_TRY(state,
                 resume_from(*resume, state, options.first_epoch + options.epochs).at("resume"));
  }
  HEADRACE_TRY(const auto first_step, plan.step_at(state.position).at("resume"));
  HEADRACE_TRY(auto quarantine, Quarantine::open(options.quarantine));
  HEADRACE_TRY(own.shuffle, with_step(own.shuffle, plan.global_batch()));
  HEADRACE_TRY(auto classes, classes_of(dataset, options.shuffle));
  own.shuffle.classes = classes.get();
  return std::unique_ptr<Loader>(
      std::make_unique<LoaderImpl>(LoaderImpl::Parts{.context = context,
                                                     .feed = feed,
                                                     .dataset = dataset,
                                                     .options = own,
                                                     .plan = plan,
                                                     .state = std::move(state),
                                                     .first_step = first_step,
                                                     .quarantine = std::move(quarantine),
                                                     .classes = std::move(classes),
                                                     .selection = std::move(selection)}));
}

}  // namespace headrace
