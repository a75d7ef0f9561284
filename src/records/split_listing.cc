// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/split_listing.h"

#include <algorithm>
#include <list>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/records/key_space.h"

namespace headrace {
namespace {

constexpr std::size_t kLongPages = 4;     // a folder of more is worth pieces
constexpr double kWorthPages = 3;         // so much must be left of what is taken in two
constexpr std::size_t kFreeGuesses = 32;  // that may be wrong, besides one for two pages
constexpr std::size_t kFirstGuesses = 24;

struct Piece {
  enum class State { planned, asked, going, over };
  State state = State::planned;
  std::string begin;               // near which it is listed; empty: from the beginning
  std::optional<std::string> end;  // where another begins, as far as it is known: for guesses only
  std::string first;               // key
  std::string last;                // key so far
  double listed = 0;
  double left = 0;  // keys, estimated
};

/// A folder that is being listed. Strings in it are without the folder's prefix.
struct Folder {
  std::string prefix;
  std::list<Piece> pieces;                              // their addresses stay
  std::unordered_map<std::string, const Piece*> marks;  // by key: whose it is, and what follows
  KeySpace space;
  std::size_t pages = 0;
  std::size_t page_keys = 0;  // of the largest
  std::size_t in_vain = 0;    // guesses that brought nothing new
  bool splits = true;
};

class Listers {
 public:
  Listers(NearLister& store, std::span<const std::string> folders, const ObjectSink& sink)
      : store_(store), names_(folders), sink_(sink) {}

  Result<void> run(unsigned listers, const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < std::max(listers, 1U); ++i) threads.emplace_back([this] { work(); });
    }
    const MutexLock lock(mutex_);
    if (failure_) return *failure_;
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    return {};
  }

 private:
  struct Job {
    Folder* folder;
    Piece* piece;
  };

  void work() {
    for (;;) {
      std::optional<Job> job;
      {
        MutexLock lock(mutex_);
        while (!stop_.stop_requested() && !(job = next()) && running_ != 0)
          lock.wait(work_, stop_.get_token());
        if (!job || stop_.stop_requested()) break;
        ++running_;
      }
      auto listed = list(*job);
      const MutexLock lock(mutex_);
      ended(*job, listed);
      --running_;
      answered_.notify_all();
      work_.notify_all();
    }
    work_.notify_all();
  }

  Result<void> list(const Job& job) {
    const std::string& prefix = job.folder->prefix;
    const std::string near = job.piece->begin.empty() ? "" : prefix + job.piece->begin;
    return store_.list_near(prefix, near, stop_.get_token(), [&](ListPage&& page) -> Result<bool> {
      if (page.objects.empty()) return !stop_.stop_requested();
      bool more = true;
      const std::size_t own = take(job, page.objects, more);
      HEADRACE_TRY(sink_(std::span(page.objects).first(own)));
      return more && !stop_.stop_requested();
    });
  }

  /// How many keys of the page are the piece's own; `more`: it goes on.
  std::size_t take(const Job& job, std::span<const ObjectInfo> page, bool& more) {
    Folder& folder = *job.folder;
    Piece& piece = *job.piece;
    const auto key = [&](std::size_t i) {
      return std::string_view(page[i].key).substr(folder.prefix.size());
    };
    MutexLock lock(mutex_);
    wait_for_guesses(lock, folder, piece, key(page.size() - 1));
    std::size_t own = 0;
    for (; own < page.size() && more; own += more ? 1 : 0) {
      const auto mark = folder.marks.find(std::string(key(own)));
      more = mark == folder.marks.end() || mark->second == &piece;
    }
    if (piece.state == Piece::State::asked) {
      // One that has met another's mark at once is over already: half of it would be half of what
      // lies before it.
      piece.state = own != 0 ? Piece::State::going : Piece::State::over;
      if (own != 0) {
        if (!piece.begin.empty()) --folder.in_vain;
        piece.first = key(0);
        folder.marks.try_emplace(piece.first, &piece);
      } else if (key(0) == folder.pieces.front().first) {
        folder.splits = false;  // it begins at the beginning whatever it is told
      }
      answered_.notify_all();
    }
    if (own == 0) return 0;
    piece.last = key(own - 1);
    piece.listed += static_cast<double>(own);
    if (more) folder.marks.try_emplace(piece.last, &piece);
    ++folder.pages;
    folder.page_keys = std::max(folder.page_keys, page.size());
    for (std::size_t i = 0; i < own; i += 16) folder.space.saw(key(i));
    estimate(folder, piece);
    if (more && folder.pages > kLongPages) begin_to_split(folder);
    if (more && worth_two(folder, piece)) work_.notify_one();
    return own;
  }

  /// So that a piece does not pass a guess which is just being asked for, if keys come in the order
  /// of bytes: they would come twice.
  void wait_for_guesses(MutexLock& lock, Folder& folder, const Piece& piece,
                        std::string_view upto) {
    const auto passed = [&](Piece& guess) {
      return &guess != &piece && guess.begin > std::max(piece.begin, piece.last) &&
             guess.begin <= upto;
    };
    for (Piece& guess : folder.pieces) {
      if (guess.state == Piece::State::planned && passed(guess)) guess.state = Piece::State::over;
      while (guess.state == Piece::State::asked && passed(guess) && !stop_.stop_requested())
        lock.wait(answered_, stop_.get_token());
    }
  }

  static bool worth_two(const Folder& folder, const Piece& piece) {
    const bool going = piece.state == Piece::State::going || piece.state == Piece::State::asked;
    return folder.splits && folder.in_vain <= kFreeGuesses + folder.pages / 2 && going &&
           piece.left >= kWorthPages * static_cast<double>(folder.page_keys);
  }

  static void estimate(const Folder& folder, Piece& piece) {
    const double left = folder.space.share_left(piece.first, piece.last, piece.end);
    piece.left = left >= 1 ? 1e18 : piece.listed * left / (1 - left);
  }

  /// Once: which beginnings are shared by all keys that follow?
  void begin_to_split(Folder& folder) HEADRACE_REQUIRES(mutex_) {
    if (!folder.splits || folder.pieces.size() != 1) return;
    Piece& all = folder.pieces.front();
    std::optional<std::string> end;
    for (std::string& guess : KeySpace::behind_prefixes(all.last, kFirstGuesses)) {
      Piece piece{.begin = std::move(guess), .end = end};
      end = piece.begin;
      folder.pieces.push_back(std::move(piece));
    }
    all.end = end;
    estimate(folder, all);
    long_.push_back(&folder);
    work_.notify_all();
  }

  std::optional<Job> next() HEADRACE_REQUIRES(mutex_) {
    if (next_ < names_.size()) {
      Folder& folder = folders_.emplace_back(Folder{.prefix = names_[next_++]});
      return start(folder, folder.pieces.emplace_back());
    }
    Folder* in = nullptr;
    Piece* longest = nullptr;
    for (Folder* folder : long_) {
      for (Piece& piece : folder->pieces) {
        if (piece.state == Piece::State::planned && folder->splits) return start(*folder, piece);
        if (!worth_two(*folder, piece)) continue;
        if (longest != nullptr && piece.left <= longest->left) continue;
        in = folder;
        longest = &piece;
      }
    }
    if (longest == nullptr) return std::nullopt;
    const bool going = longest->state == Piece::State::going;
    Piece half{.begin = in->space.middle(going ? longest->last : longest->begin, longest->end),
               .end = longest->end};
    longest->left /= 2;
    if (half.begin.empty()) {  // no text is known between them
      longest->left = 0;
      return next();
    }
    half.left = longest->left;
    longest->end = half.begin;
    return start(*in, in->pieces.emplace_back(std::move(half)));
  }

  static Job start(Folder& folder, Piece& piece) {
    if (!piece.begin.empty()) ++folder.in_vain;  // until it brings something
    piece.state = Piece::State::asked;
    return {&folder, &piece};
  }

  void ended(const Job& job, const Result<void>& listed) HEADRACE_REQUIRES(mutex_) {
    Piece& piece = *job.piece;
    const bool in_vain = piece.listed == 0 && !piece.begin.empty();
    piece.state = Piece::State::over;
    piece.left = 0;
    if (listed) return;
    if (in_vain && listed.error().code() == Code::invalid) {  // it refuses to begin there
      job.folder->splits = false;
      return;
    }
    if (!failure_) failure_ = listed.error();
    stop_.request_stop();
  }

  NearLister& store_;
  const std::span<const std::string> names_;
  const ObjectSink& sink_;
  std::stop_source stop_;
  Mutex mutex_;
  Condition work_;                                       // perhaps there is some
  Condition answered_;                                   // a piece has its first page, or is over
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;     // of names_
  std::size_t running_ HEADRACE_GUARDED_BY(mutex_) = 0;  // listings
  std::list<Folder> folders_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<Folder*> long_ HEADRACE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<void> list_in_pieces(NearLister& store, std::span<const std::string> folders,
                            unsigned listers, const std::stop_token& stop, const ObjectSink& sink) {
  return Listers(store, folders, sink).run(listers, stop);
}

}  // namespace headrace
