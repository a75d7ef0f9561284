// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/read_job.h"

#include <atomic>
#include <thread>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/base/process.h"
#include "headrace/job/accelerator.h"
#include "headrace/records/joined/joined.h"

namespace headrace {
namespace {

constexpr Nanos kProgressEvery = std::chrono::milliseconds(500);
constexpr Nanos kSaveEvery = std::chrono::seconds(1);

/// Seconds since the process was started; 0 where the system does not say.
double age() {
  const auto age = process_age();
  return age ? std::chrono::duration<double>(*age).count() : 0;
}

/// Calls the progress hook now and then with what the job does at that moment.
class Reporter {
 public:
  Reporter(const ReadHooks& hooks, std::uint64_t end_epoch) : hooks_(hooks) {
    progress_.phase = "opening";
    progress_.end_epoch = end_epoch;
    if (hooks_.progress) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
  }

  /// The loader must outlive the phase.
  void phase(std::string name, const Loader* loader) {
    const MutexLock lock(mutex_);
    progress_.phase = std::move(name);
    loader_ = loader;
    rate_from_.reset();
  }
  void fetched(std::uint64_t done, std::uint64_t total) {
    const MutexLock lock(mutex_);
    progress_.phase = "fetching";
    progress_.bytes_done = done;
    progress_.bytes_total = total;
  }

 private:
  void run(const std::stop_token& stop) {
    while (real_clock().sleep_for(kProgressEvery, stop)) hooks_.progress(now());
  }

  ReadProgress now() {
    const MutexLock lock(mutex_);
    if (loader_ == nullptr) return progress_;
    progress_.loader = loader_->progress();
    const Nanos time = real_clock().now();
    const std::uint64_t samples = progress_.loader.samples;
    if (!rate_from_ || samples < rate_from_->second) {
      rate_from_ = {time, samples};
      progress_.samples_per_second = 0;
    } else {
      const double seconds = std::chrono::duration<double>(time - rate_from_->first).count();
      progress_.samples_per_second =
          seconds <= 0 ? 0 : static_cast<double>(samples - rate_from_->second) / seconds;
    }
    return progress_;
  }

  const ReadHooks& hooks_;
  Mutex mutex_;
  ReadProgress progress_ HEADRACE_GUARDED_BY(mutex_);
  const Loader* loader_ HEADRACE_GUARDED_BY(mutex_) = nullptr;
  std::optional<std::pair<Nanos, std::uint64_t>> rate_from_ HEADRACE_GUARDED_BY(mutex_);
  std::jthread thread_;
};

/// The validation set's job: every sample once, in canonical order, with the training set's
/// classes and without chance in the pixels.
JobOptions validation_job(const ReadOptions& options, const Job& training,
                          std::uint64_t first_epoch) {
  JobOptions job = options.job;
  job.uri = options.validation;
  job.local = options.validation_local;
  job.open.list.clear();
  job.pipe_channel = "validation";
  drop_other_modes(job);
  job.open.classes = training.dataset().classes();
  job.start = false;
  job.resume.reset();
  LoaderOptions& loader = job.loader;
  loader.epochs -= first_epoch - loader.first_epoch;
  loader.first_epoch = first_epoch;
  loader.shuffle = Shuffle::none;
  loader.tail = Tail::keep;
  loader.uri = options.validation;
  // Both loaders exist at the same time, and are used one after the other.
  constexpr std::uint64_t kShare = 4;
  loader.budget_bytes /= kShare;
  loader.transform = validation_of(loader.transform);
  return job;
}

class ReadJob {
 public:
  ReadJob(const ReadOptions& options, const ReadHooks& hooks, std::stop_token stop)
      : options_(options),
        stop_(std::move(stop)),
        end_epoch_(options.job.loader.first_epoch + options.job.loader.epochs),
        reporter_(hooks, end_epoch_) {}

  Result<ReadReport> run() {
    HEADRACE_TRY(open());
    for (; missing_validations_ != 0; --missing_validations_) HEADRACE_TRY(validate());
    Loader& loader = training_->loader();
    while (loader.state().epoch < end_epoch_) {
      auto epoch = run_epoch(*training_, "epoch");
      if (!epoch) {
        // What was delivered so far is saved, so that the job can go on from there. The first
        // failure stays, unless all that failed is the saving.
        const auto saved = save_state();
        if (!saved && epoch.error().code() == Code::cancelled) return saved.error();
        return std::move(epoch).error();
      }
      // Listing and downloading were for the first epoch.
      for (std::size_t i = 0; i < before_.size(); ++i) epoch->report.metrics[i] += before_[i];
      before_ = {};
      saved_.epochs.push_back(*epoch);
      HEADRACE_TRY(save_state());
      HEADRACE_TRY(validate());
    }
    reporter_.phase("ending", nullptr);
    return finish();
  }

 private:
  Result<void> open() {
    JobOptions job = options_.job;
    std::uint64_t first_validation = job.loader.first_epoch;
    if (options_.resume) {
      saved_ = *options_.resume;
      job.resume = saved_.state;
      report_.resumed_from = saved_.state;
      first_validation = saved_.state.epoch;
      if (!options_.validation.empty() && saved_.validation.size() < saved_.epochs.size()) {
        missing_validations_ = saved_.epochs.size() - saved_.validation.size();
        first_validation -= missing_validations_;
      }
      // Another rank's sums are in rank 0's report already.
      if (saved_.state.world != job.loader.world && job.loader.rank != 0) {
        saved_.epochs.clear();
        saved_.validation.clear();
      }
    }
    job.on_fetch = [this](std::uint64_t done, std::uint64_t total) {
      reporter_.fetched(done, total);
    };
    job.start = false;
    HEADRACE_TRY(training_, Job::open(job, stop_));
    if (!options_.validation.empty() &&
        first_validation < end_epoch_) {  // before the first batch: an unknown class must not wait
                                          // for an epoch's end
      HEADRACE_TRY(validation_,
                   Job::open(validation_job(options_, *training_, first_validation), stop_)
                       .at("validation"));
    }
    before_ = training_->context().metrics->snapshot();
    HEADRACE_TRY(training_->start());
    report_.mode = training_->mode();
    report_.format = training_->dataset().format();
    report_.stands_on = training_->stands_on();
    report_.samples = training_->dataset().size();
    report_.sets = member_sizes(training_->dataset());
    report_.classes = training_->dataset().classes().size();
    report_.shuffle = options_.job.loader.shuffle;
    report_.nodes = nodes_of(options_.job);
    report_.open_seconds = age();
    accelerator_.emplace(*training_->context().clock, options_.accelerator_rate);
    return {};
  }

  /// From then on its first batches are made ahead, and stand ready when a training epoch ends.
  Result<void> start_validation() {
    if (!validation_ || validating_) return {};
    validating_ = true;
    return validation_->start();
  }

  Result<void> validate() {
    if (!validation_) return {};
    HEADRACE_TRY(start_validation());
    HEADRACE_TRY(const auto result, run_epoch(*validation_, "validation").at("validation"));
    saved_.validation.push_back(result);
    return save_state();
  }

  Result<EpochResult> run_epoch(Job& job, std::string name) {
    Loader& loader = job.loader();
    reporter_.phase(std::move(name), &loader);
    accelerator_->begin_epoch();
    const bool training = &job == training_.get();
    for (;;) {
      auto batch = loader.next(stop_);
      if (!batch) return std::move(batch).error();
      if (report_.launch_seconds == 0) report_.launch_seconds = age();
      if (!*batch) break;
      const bool whole = accelerator_->step((**batch)->count(), stop_);
      if (!whole) return Error(Code::cancelled, "stopped");
      if (!training) continue;
      HEADRACE_TRY(start_validation());  // after the first training batch, which comes first
      HEADRACE_TRY(save_state_now_and_then());
    }
    reporter_.phase("epoch", nullptr);
    return EpochResult{loader.epoch_report(), accelerator_->busy()};
  }

  Result<void> save_state_now_and_then() {
    if (options_.state_file.empty()) return {};
    const Nanos now = real_clock().now();
    if (last_save_ && now - *last_save_ < kSaveEvery) return {};
    last_save_ = now;
    return save_state();
  }

  Result<void> save_state() {
    if (options_.state_file.empty()) return {};
    saved_.state = training_->loader().state();
    return save(saved_, options_.state_file);
  }

  Result<ReadReport> finish() {
    report_.epochs = std::move(saved_.epochs);
    report_.validation = std::move(saved_.validation);
    for (const Job* job : {training_.get(), validation_.get()}) {
      if (job == nullptr) continue;
      const auto counted = job->context().metrics->snapshot();
      for (std::size_t i = 0; i < counted.size(); ++i) report_.totals[i] += counted[i];
      for (auto& notice : job->context().notices->all()) report_.notices.push_back(notice);
    }
    report_.total_seconds = age();
    return std::move(report_);
  }

  const ReadOptions& options_;
  const std::stop_token stop_;
  const std::uint64_t end_epoch_;
  ReadState saved_;
  ReadReport report_;
  std::unique_ptr<Job> training_;
  std::unique_ptr<Job> validation_;
  bool validating_ = false;
  std::size_t missing_validations_ = 0;  ///< of ended epochs: broken off in their validation
  std::optional<Accelerator> accelerator_;
  std::optional<Nanos> last_save_;
  Metrics::Snapshot before_{};  ///< counted until the loader began
  Reporter reporter_;           // goes first: it looks at the jobs
};

}  // namespace

Result<ReadReport> run_read(const ReadOptions& options, const ReadHooks& hooks,
                            const std::stop_token& stop) {
  return ReadJob(options, hooks, stop).run();
}

}  // namespace headrace
