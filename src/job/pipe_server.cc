// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/pipe_server.h"

#include <utility>

namespace headrace {

PipeServer::PipeServer(Store& store, const Dataset& dataset, pipe::WriterOptions options)
    : store_(store),
      dataset_(dataset),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) {
        const auto note = [this](const Error& error) {
          const MutexLock lock(mutex_);
          if (!failure_) failure_ = error;
        };
        const auto done =
            pipe::write_channel(store_, dataset_, options_, {.at_failure = note}, stop);
        if (!done) note(done.error());
      }) {}

std::optional<Error> PipeServer::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

}  // namespace headrace
