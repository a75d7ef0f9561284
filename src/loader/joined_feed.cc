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
      : feeds_(std::move(feeds)), joined_(joined) {}

  void fetch(const FeedRequest& request, FeedDone done) override {
    const Member at = member_of(joined_, request.sample);
    FeedRequest own = request;
    own.sample = at.id;
    feeds_[at.index]->fetch(own, std::move(done));
  }

  void fetch_parts(const FeedRequest& request, const std::shared_ptr<const WantedParts>& wanted,
                   FrameDone done) override {
    const Member at = member_of(joined_, request.sample);
    FeedRequest own = request;
    own.sample = at.id;
    feeds_[at.index]->fetch_parts(own, wanted, std::move(done));
  }
  bool reads_parts() const override {
    return std::ranges::any_of(feeds_, [](const Feed* feed) { return feed->reads_parts(); });
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
      const Member at = member_of(joined_, sample);
      of_feed[at.index].push_back(at.id);
    }
    for (std::size_t i = 0; i < feeds_.size(); ++i)
      if (!of_feed[i].empty()) feeds_[i]->hint(of_feed[i]);
  }

  bool random_access() const override {
    return std::ranges::all_of(feeds_, [](const Feed* feed) { return feed->random_access(); });
  }

 private:
  const std::vector<Feed*> feeds_;
  const Dataset& joined_;
};

}  // namespace

std::unique_ptr<Feed> make_joined_feed(std::vector<Feed*> feeds, const Dataset& joined) {
  return std::make_unique<JoinedFeed>(std::move(feeds), joined);
}

}  // namespace headrace
