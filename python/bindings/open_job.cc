// SPDX-License-Identifier: Apache-2.0
#include "open_job.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

#include "raise.h"
#include "wait.h"

namespace headrace::python {
namespace nb = nanobind;

void Waits::add(const std::string& what) {
  const MutexLock lock(mutex_);
  unsaid_.push_back(what);
}

void Waits::show() {
  std::vector<std::string> unsaid;
  {
    const MutexLock lock(mutex_);
    unsaid.swap(unsaid_);
  }
  for (const std::string& what : unsaid)
    nb::module_::import_("logging").attr("getLogger")("headrace").attr("warning")(what.c_str());
}

std::unique_ptr<OpenJob> OpenJob::open(const JobOptions& asked) {
  auto waits = std::make_shared<Waits>();
  JobOptions options = asked;
  options.on_wait = [waits](const std::string& what) { waits->add(what); };
  std::stop_source stop;
  auto opening = std::async(std::launch::async, [&options, token = stop.get_token()] {
    return Job::open(options, token);
  });
  try {
    wait_for_signal_or(opening, [&waits] { waits->show(); });
  } catch (...) {
    const nb::gil_scoped_release others_run;
    stop.request_stop();
    opening.wait();
    throw;
  }
  return std::unique_ptr<OpenJob>(
      new OpenJob(value_or_raise(opening.get()), options.loader.transform, std::move(waits)));
}

OpenJob::OpenJob(std::unique_ptr<Job> job, const Transform& transform, std::shared_ptr<Waits> waits)
    : transform_(transform),
      waits_(std::move(waits)),
      job_(std::move(job)),
      state_(job_->loader().state()) {}

OpenJob::~OpenJob() {
  if (process_ == ::getpid()) {
    close();
    return;
  }
  // After a fork its threads are not here: nothing may wait for them.
  static_cast<void>(job_.release());
  static_cast<void>(pending_.release());
}

Job& OpenJob::job() const {
  if (process_ != ::getpid()) {
    raise({Code::invalid, "this loader was opened before a fork, and its threads are in the parent",
           "open it in the child: after the fork, or with the start method 'spawn'"});
  }
  if (job_ == nullptr) raise({Code::invalid, "this loader is closed"});
  return *job_;
}

OpenJob::Pulled OpenJob::pull() {
  Loader& loader = job_->loader();
  auto batch = loader.next(stop_.get_token());
  return {std::move(batch), loader.state(), loader.epoch_report()};
}

std::optional<std::unique_ptr<PyBatch>> OpenJob::next() {
  static_cast<void>(job());
  if (waited_for_) {
    raise({Code::invalid, "another thread waits for this loader's next batch",
           "use one loader a thread"});
  }
  if (!pending_) {
    pending_ = std::make_unique<std::future<Pulled>>(
        std::async(std::launch::async, [this] { return pull(); }));
  }
  waited_for_ = true;
  try {
    wait_for_signal_or(*pending_, [this] { waits_->show(); });
  } catch (...) {
    waited_for_ = false;
    throw;
  }
  waited_for_ = false;
  Pulled pulled = pending_->get();
  pending_.reset();
  state_ = std::move(pulled.state);
  report_ = pulled.report;
  auto batch = value_or_raise(std::move(pulled.batch));
  if (!batch) return std::nullopt;
  return std::make_unique<PyBatch>(*std::move(batch), transform_);
}

void OpenJob::close() {
  if (process_ != ::getpid() || job_ == nullptr) return;
  stop_.request_stop();
  const nb::gil_scoped_release others_run;
  while (waited_for_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  pending_.reset();  // waits for the thread of `pull`
  job_.reset();
}

}  // namespace headrace::python
