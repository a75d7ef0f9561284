// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/loader/feed.h"
#include "headrace/records/joined/joined.h"

namespace headrace {
namespace {

class JoinedFeed final : public Feed {
 public:
  JoinedFeed(std::vector<Feed*> feeds, const Dataset& joined)
      : feeds_(std::move(feeds)), joined_(joined) {
    std::uint64_t end = 0;
    for (const std::uint64_t size : member_sizes(joined)) ends_.push_back(end += size);
  }

  void fetch(const FeedRequest& request, FeedDone done) override {
    const Place place = place_of(request.sample);
    FeedRequest own = request;
    own.sample = place.sample;
    feeds_[place.feed]->fetch(own, std::move(done));
  }

  Result<Sample> parse(SampleId sample, const Bytes& frame) const override {
    return joined_.parse(sample, frame);
  }

  void flush() override {
    for (Feed* feed : feeds_) feed->flush();
  }

  void hint(std::span<const SampleId> next) override {
    std::vector<std::vector<SampleId>> of_feed(feeds_.size());
    for (const SampleId sample : next) {
      const Place place = place_of(sample);
      of_feed[place.feed].push_back(place.sample);
    }
    for (std::size_t i = 0; i < feeds_.size(); ++i)
      if (!of_feed[i].empty()) feeds_[i]->hint(of_feed[i]);
  }

  bool random_access() const override {
    return std::ranges::all_of(feeds_, [](const Feed* feed) { return feed->random_access(); });
  }

 private:
  struct Place {
    std::size_t feed;
    SampleId sample;
  };

  Place place_of(SampleId sample) const {
    const auto id = static_cast<std::uint64_t>(sample);
    const auto end = std::ranges::upper_bound(ends_, id);
    const std::uint64_t begin = end == ends_.begin() ? 0 : *std::prev(end);
    return {static_cast<std::size_t>(end - ends_.begin()), SampleId{id - begin}};
  }

  const std::vector<Feed*> feeds_;
  const Dataset& joined_;
  std::vector<std::uint64_t> ends_;  ///< of each set's samples
};

}  // namespace

std::unique_ptr<Feed> make_joined_feed(std::vector<Feed*> feeds, const Dataset& joined) {
  return std::make_unique<JoinedFeed>(std::move(feeds), joined);
}

}  // namespace headrace
