// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/job.h"

#include <fmt/format.h>

#include <utility>

#include "headrace/job/compose.h"
#include "headrace/job/nodes.h"

namespace headrace {
namespace {

/// What decides which labels and payloads records are read into.
std::string reading_of(const OpenOptions& open) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", open.format, open.list,
                     fmt::join(open.attribute_names, ","), open.image_key, open.label_key,
                     static_cast<int>(open.label_base), static_cast<int>(open.recordio_parts),
                     fmt::join(open.classes, ","));
}

class ComposedJob final : public Job {
 public:
  ComposedJob(JobOptions options, Context context, Composition parts)
      : options_(std::move(options)), context_(std::move(context)), parts_(std::move(parts)) {}

  Mode mode() const override { return parts_.mode; }
  const Context& context() const override { return context_; }
  const Dataset& dataset() const override { return *parts_.dataset; }
  const std::string& stands_on() const override { return parts_.stands_on; }
  Loader& loader() override { return *loader_; }

  Result<void> start() override {
    LoaderOptions loader = options_.loader;
    if (loader.uri.empty()) loader.uri = options_.uri;
    loader.seek_store = parts_.side_store;
    loader.seek_place = parts_.place;
    loader.reading = reading_of(options_.open);
    // 50 ms of two cores' decoding.
    constexpr std::uint64_t kAheadOfDisk = std::uint64_t{16} << 20U;
    const bool by_disk = mode() == Mode::direct || mode() == Mode::file;
    if (by_disk && options_.medium.empty()) loader.first_bytes = kAheadOfDisk;
    HEADRACE_TRY(loader_,
                 Loader::make(context_, *parts_.feed, *parts_.dataset, loader, options_.resume));
    return {};
  }

 private:
  const JobOptions options_;
  const Context context_;
  Composition parts_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace

Result<std::unique_ptr<Job>> Job::open(const JobOptions& given, const std::stop_token& stop) {
  HEADRACE_TRY(check_options(given));
  Context context;
  JobOptions options = given;
  Shuffle& shuffle = options.loader.shuffle;
  if (shuffle.scheme == Shuffle::Scheme::node && shuffle.nodes == 0)
    shuffle.nodes = options.nodes != 0 ? options.nodes : nodes_of_launcher(options.loader.world);
  HEADRACE_TRY(auto parts, compose(options, context, stop));
  auto job = std::make_unique<ComposedJob>(options, context, std::move(parts));
  if (options.start) HEADRACE_TRY(job->start());
  return std::unique_ptr<Job>(std::move(job));
}

}  // namespace headrace
