// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/testing/world.h"

#include <fmt/format.h>

#include <stdexcept>

#include "headrace/records/folder/folder.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace::testing {

World::World(std::uint64_t samples, unsigned store_threads) : store(store_threads) {
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::string content = pattern(i, 20 + i % 50);
    auto done = put(store, fmt::format("c{}/{:06}.jpg", i % 3, i), as_byte_span(content), {});
    if (!done) throw std::runtime_error(done.error().to_string());
  }
  auto opened = open_folder(store, context, {});
  if (!opened) throw std::runtime_error(opened.error().to_string());
  dataset = *std::move(opened);
  feed = make_store_feed(store, *dataset);
}

Result<std::unique_ptr<Loader>> World::loader(const LoaderOptions& options,
                                              const std::optional<State>& resume) {
  return Loader::make(context, *feed, *dataset, options, resume);
}

std::string World::key(std::uint64_t sample) const { return dataset->locate(SampleId{sample}).key; }

Delivered drain(Loader& loader, std::uint64_t epochs, const std::function<void(Batch&)>& at_batch) {
  Delivered all;
  while (all.epochs.size() < epochs) {
    auto next = loader.next({});
    if (!next) {
      all.error = next.error();
      return all;
    }
    if (!*next) {
      all.epochs.push_back(loader.epoch_report());
      continue;
    }
    Batch& batch = ***next;
    if (at_batch) at_batch(batch);
    all.batches.push_back(batch.count());
    all.slots.insert(all.slots.end(), batch.slots.begin(), batch.slots.end());
  }
  return all;
}

LoaderOptions small_job() {
  LoaderOptions options;
  options.batch = 4;
  options.seed = 7;
  options.threads = 3;
  options.max_requests = 8;
  options.decode = false;
  return options;
}

}  // namespace headrace::testing
