// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/pipe_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>

#include "headrace/consumers/pipe/ordered_reads.h"
#include "headrace/consumers/pipe/stream.h"
#include "headrace/records/frames.h"

namespace headrace::pipe {
namespace {

class ChannelWriter {
 public:
  ChannelWriter(Store& store, const Dataset& dataset, const WriterOptions& options,
                const WriterHooks& hooks, const StopEvent& event, const std::stop_token& stop)
      : store_(store),
        dataset_(dataset),
        options_(options),
        hooks_(hooks),
        event_(event),
        stop_(stop) {}

  Result<void> run() {
    const BlockSigpipe block;
    const std::uint64_t end = options_.first_epoch + options_.epochs;
    HEADRACE_TRY(const std::uint64_t first, first_epoch());
    if (first < end) HEADRACE_TRY(make_fifo(path(first)));
    for (std::uint64_t epoch = first; epoch < end; ++epoch) {
      // A reader may look for the next FIFO as soon as this one ends.
      if (epoch + 1 < end) HEADRACE_TRY(make_fifo(path(epoch + 1)));
      auto done = write_epoch(epoch);
      ::unlink(path(epoch).c_str());  // nobody would ever write to it again
      if (!done) {
        if (epoch + 1 < end) ::unlink(path(epoch + 1).c_str());
        return std::move(done).error();
      }
      if (hooks_.at_epoch_end) hooks_.at_epoch_end(*done);
    }
    return {};
  }

 private:
  /// A reader that resumes at the very end of an epoch has nothing to read of it, and goes on
  /// with the next one's FIFO.
  Result<std::uint64_t> first_epoch() const {
    const std::uint64_t first = options_.first_epoch;
    if (options_.first_position == 0) return first;
    HEADRACE_TRY(const auto stream, make_stream(dataset_, options_, first));
    return stream->next() ? first : first + 1;
  }

  std::string path(std::uint64_t epoch) const {
    return fifo_path(options_.dir, options_.channel, epoch);
  }

  Result<WrittenEpoch> write_epoch(std::uint64_t epoch) {
    HEADRACE_TRY(const auto stream, make_stream(dataset_, options_, epoch));
    // Nothing is read before a reader is there: what an epoch costs is counted where it belongs.
    HEADRACE_TRY(auto fifo,
                 FifoWriter::open(path(epoch), event_, options_.open_timeout, hooks_.on_wait));
    // Stored objects are streamed as they are, others as what was unpacked of them.
    Store& from = options_.order == StreamOrder::stored ? store_ : frames_of(dataset_, store_);
    OrderedReads reads(
        from, [&stream] { return stream->next(); },
        {.budget_bytes = options_.budget_bytes, .requests = options_.requests}, stop_);
    WrittenEpoch written{.epoch = epoch};
    std::vector<std::byte> out;
    std::optional<Piece> last;
    while (auto answer = reads.next()) {
      if (!answer->bytes) return fail(fifo, *stream, last, std::move(answer->bytes).error());
      auto encoded = stream->encode(answer->piece, *answer->bytes, out);
      if (!encoded) return fail(fifo, *stream, last, std::move(encoded).error());
      auto whole = fifo.write(out);
      if (!whole) return failed_for(std::move(whole).error());
      if (!*whole) {
        written.abandoned = true;
        return written;
      }
      written.bytes += out.size();
      written.pieces += stream->begins_object(answer->piece) ? 1 : 0;
      last = std::move(answer->piece);
    }
    return written;
  }

  /// A FIFO that is closed looks like the end of an epoch. So a stream that ends for a failure
  /// ends inside a record.
  Error fail(FifoWriter& fifo, const Stream& stream, const std::optional<Piece>& last,
             Error error) {
    if (!last || stream.looks_whole_after(*last)) std::ignore = fifo.write(broken_tail());
    return failed_for(std::move(error));
  }

  Error failed_for(Error error) {
    if (hooks_.at_failure) hooks_.at_failure(error);
    return error;
  }

  Store& store_;
  const Dataset& dataset_;
  const WriterOptions& options_;
  const WriterHooks& hooks_;
  const StopEvent& event_;
  const std::stop_token& stop_;
};

}  // namespace

Result<void> check_writable(const Dataset& dataset, const WriterOptions& options) {
  HEADRACE_TRY(const auto stream, make_stream(dataset, options, options.first_epoch));
  return {};
}

Result<void> write_channel(Store& store, const Dataset& dataset, const WriterOptions& options,
                           const WriterHooks& hooks, const std::stop_token& stop) {
  HEADRACE_TRY(check_writable(dataset, options));  // before any FIFO appears
  std::error_code error;
  std::filesystem::create_directories(options.dir, error);
  if (error) return errno_error(error.value(), "make the folder").at(options.dir);
  HEADRACE_TRY(const auto event, StopEvent::make(stop));
  return ChannelWriter(store, dataset, options, hooks, *event, stop).run();
}

}  // namespace headrace::pipe
