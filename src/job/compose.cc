// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/compose.h"

#include <fmt/format.h>

#include "headrace/base/uri.h"
#include "headrace/job/media_file.h"
#include "headrace/storage/open_store.h"
#include "headrace/storage/shaped/shaped_store.h"

namespace headrace {
namespace {

/// Builds one job's stores, from the origin upwards.
class Composer {
 public:
  Composer(const JobOptions& options, const Context& context, const std::stop_token& stop)
      : options_(options), context_(context), stop_(stop) {}

  Result<Composition> run() && {
    made_.mode = options_.mode.value_or(default_mode(options_.uri));
    switch (made_.mode) {
      case Mode::direct:
        HEADRACE_TRY(direct());
        break;
      case Mode::stream:
        HEADRACE_TRY(stream());
        break;
      default:
        return Error(Code::invalid, fmt::format("mode {} is not built in", to_string(made_.mode)));
    }
    return std::move(made_);
  }

 private:
  Store& top() { return *made_.stores.back(); }

  /// The place that the mode reads first; `--medium` makes it as slow as that medium.
  Result<void> open_origin(const std::string& place) {
    HEADRACE_TRY(const Uri uri, parse_uri(place));
    HEADRACE_TRY(auto store, open_store(uri, context_, {.stop = stop_}));
    made_.stores.push_back(std::move(store));
    if (options_.medium.empty()) return {};
    HEADRACE_TRY(const auto media, load_media());
    HEADRACE_TRY(const auto* const entry, media.find(options_.medium));
    made_.stores.push_back(make_shaped_store(top(), entry->medium, context_, options_.loader.seed));
    return {};
  }

  Result<void> number_samples(Store& store) {
    OpenOptions open = options_.open;
    open.stop = stop_;
    HEADRACE_TRY(made_.dataset, open_dataset(store, context_, open));
    return {};
  }

  Result<void> direct() {
    const std::string& place = options_.local.empty() ? options_.uri : options_.local;
    HEADRACE_TRY(const Uri uri, parse_uri(place));
    if (uri.scheme == Scheme::s3) {
      return Error(Code::invalid, "mode direct reads a folder of this machine",
                   "give --local PATH, a copy of the data, or use mode stream, keep or file")
          .at(place);
    }
    HEADRACE_TRY(open_origin(place));
    HEADRACE_TRY(number_samples(top()));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  Result<void> stream() {
    HEADRACE_TRY(open_origin(options_.uri));
    HEADRACE_TRY(number_samples(top()));
    made_.feed = make_store_feed(top(), *made_.dataset);
    return {};
  }

  const JobOptions& options_;
  const Context& context_;
  const std::stop_token& stop_;
  Composition made_;
};

}  // namespace

Composition::~Composition() {
  feed.reset();
  dataset.reset();
  while (!stores.empty()) stores.pop_back();
}

Result<Composition> compose(const JobOptions& options, const Context& context,
                            const std::stop_token& stop) {
  return Composer(options, context, stop).run();
}

}  // namespace headrace
