// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decode_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <thread>

#include "headrace/base/random.h"
#include "headrace/base/thread_counter.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/jpeg/headers.h"
#include "headrace/decode/vector_units.h"

namespace headrace {

namespace {

struct Way {
  std::string who;
  VectorUnit unit = VectorUnit::best;
  enum class By { index, first, library } by = By::first;
};

struct Picture {
  ByteSpan bytes;
  Hash128 payload;
  std::vector<std::byte> index;
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// One thread of one way: of a lot of pictures those from `first` on, `step` apart.
class Worker {
 public:
  Worker(const Way& way, DecodeWork work, std::span<const Picture> pictures, std::size_t first,
         std::size_t step)
      : way_(way),
        work_(work),
        pictures_(pictures),
        first_(first),
        step_(step),
        transform_(transform(work)),
        decoder_(limits(way)) {}

  struct Turn {
    std::uint64_t images = 0;
    std::uint64_t bytes = 0;
    double cpu_seconds = 0;
    std::uint64_t instructions = 0;  ///< 0: not counted
  };

  /// Its share of the pictures from `begin` to `end`. Beyond the set they come again, with other
  /// crops.
  Result<Turn> run(std::size_t begin, std::size_t end, const std::stop_token& stop) {
    Turn turn;
    const auto counter = ThreadCounter::instructions();
    const double before = thread_seconds();
    for (std::size_t i = begin + first_; i < end; i += step_) {
      if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
      HEADRACE_TRY(one(i));
      ++turn.images;
      turn.bytes += decoder_.bytes_touched();
    }
    turn.cpu_seconds = thread_seconds() - before;
    if (counter) turn.instructions = counter->read();
    return turn;
  }

  Result<void> one(std::size_t i) {
    const Picture& picture = pictures_[i % pictures_.size()];
    const SampleKey key{1, i / pictures_.size(), i % pictures_.size()};
    if (work_ == DecodeWork::whole) {
      HEADRACE_TRY(decoder_.decode(picture.bytes));
      return {};
    }
    SeekUse seek{{}, picture.payload, way_.by == Way::By::first ? &recorded_ : nullptr};
    if (way_.by == Way::By::index) seek.index = picture.index;
    return decoder_.decode_into(picture.bytes, transform_, key, out_, &seek);
  }

 private:
  static Transform transform(DecodeWork work) {
    Transform transform;
    if (work == DecodeWork::validation) transform.augment = Augment::center_crop;
    return transform;
  }
  static DecodeLimits limits(const Way& way) {
    DecodeLimits limits;
    limits.library_only = way.by == Way::By::library;
    return limits;
  }

  const Way& way_;
  DecodeWork work_;
  std::span<const Picture> pictures_;
  std::size_t first_;
  std::size_t step_;
  Transform transform_;
  Decoder decoder_;
  std::vector<std::byte> recorded_;
  std::vector<std::byte> out_ = std::vector<std::byte>(transform_.sample_bytes());
};

struct Sums {
  std::uint64_t images = 0, bytes = 0, instructions = 0;
  double wall = 0, cpu = 0;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

/// Some pictures by all threads of a way.
Result<void> decode(const Workers& workers, std::size_t begin, std::size_t end, Sums& sums,
                    const std::stop_token& stop) {
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::optional<Result<Worker::Turn>>> turns(workers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      threads.emplace_back([&, i] { turns[i] = workers[i]->run(begin, end, stop); });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  sums.wall += took.count();
  for (auto& turn : turns) {
    HEADRACE_TRY(const auto done, *std::move(turn));
    sums.images += done.images;
    sums.bytes += done.bytes;
    sums.cpu += done.cpu_seconds;
    sums.instructions += done.instructions;
  }
  return {};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<Way> ways_of(DecodeWork work) {
  const bool index = work != DecodeWork::whole;
  std::vector<Way> ways;
  const auto add = [&](std::string_view suffix, VectorUnit unit) {
    if (index) ways.push_back({fmt::format("headrace-index{}", suffix), unit, Way::By::index});
    ways.push_back({fmt::format("headrace-first{}", suffix), unit, Way::By::first});
  };
  add("", VectorUnit::best);
  if (use_vector_unit(VectorUnit::avx2)) add("-avx2", VectorUnit::avx2);
  ways.push_back({"libjpeg-turbo", VectorUnit::best, Way::By::library});
  return ways;
}

/// Decodes each picture once, for its index; the first failure ends it.
Result<std::vector<Picture>> prepare(std::span<const Bytes> pictures) {
  std::vector<Picture> all;
  Decoder decoder;
  const Transform transform;
  std::vector<std::byte> out(transform.sample_bytes());
  for (const Bytes& bytes : pictures) {
    Picture picture{bytes.span(), hash_bytes(bytes.span()), {}};
    const SeekUse seek{{}, picture.payload, &picture.index};
    HEADRACE_TRY(decoder.decode_into(picture.bytes, transform, {}, out, &seek));
    all.push_back(std::move(picture));
  }
  // A run may see only the first ones: those shall be any of the set.
  Random random(1);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

/// One turn of each way, a few pictures of one after as many of the other: the machine is faster
/// now and slower then, and pictures differ more than ways do.
Result<std::vector<Sums>> take_turn(std::span<const Way> ways, std::span<const Workers> workers,
                                    std::size_t pictures, const std::stop_token& stop) {
  std::vector<Sums> sums(ways.size());
  const std::size_t few = std::size_t{64} * workers.front().size();  // so that caches are warm
  Result<void> done;
  for (std::size_t begin = 0; begin < pictures && done; begin += few) {
    for (std::size_t i = 0; i < ways.size() && done; ++i) {
      const std::size_t way = (begin / few + i) % ways.size();  // the first finds bytes cold
      (void)use_vector_unit(ways[way].unit);
      done = decode(workers[way], begin, std::min(begin + few, pictures), sums[way], stop);
    }
  }
  (void)use_vector_unit(VectorUnit::best);
  HEADRACE_TRY(std::move(done));
  return sums;
}

/// Turns that take so long together, all with the same pictures and crops.
Result<std::vector<std::vector<Sums>>> take_turns(std::span<const Way> ways,
                                                  std::span<const Workers> workers,
                                                  const DecodeRateOptions& options,
                                                  const std::stop_token& stop) {
  HEADRACE_TRY(const auto first, take_turn(ways, workers, std::size_t{8} * options.threads, stop));
  double one = 0;  // picture, all ways
  for (const Sums& way : first) one += way.wall / static_cast<double>(way.images);
  const double enough = options.seconds / options.turns / one;
  const auto pictures =
      static_cast<std::size_t>(std::max(enough, static_cast<double>(options.threads)));
  std::vector<std::vector<Sums>> turns;
  for (unsigned i = 0; i < options.turns; ++i) {
    HEADRACE_TRY(auto turn, take_turn(ways, workers, pictures, stop));
    turns.push_back(std::move(turn));
  }
  return turns;
}

DecodeRate rate_of(const Way& way, std::size_t at, std::span<const std::vector<Sums>> turns,
                   unsigned threads) {
  std::vector<double> wall, cpu;
  for (const auto& turn : turns) {
    const auto images = static_cast<double>(turn[at].images);
    wall.push_back(images / turn[at].wall);
    cpu.push_back(images / turn[at].cpu);
  }
  const Sums& any = turns.front()[at];  // the work of all is the same
  const auto images = static_cast<double>(any.images);
  std::optional<double> instructions;
  if (any.instructions != 0) instructions = static_cast<double>(any.instructions) / images;
  return {way.who,
          threads,
          median(std::move(wall)),
          median(std::move(cpu)),
          static_cast<double>(any.bytes) / images,
          instructions};
}

}  // namespace

Result<DecodeWork> parse_decode_work(std::string_view text) {
  if (text == "train") return DecodeWork::train;
  if (text == "validation") return DecodeWork::validation;
  if (text == "whole") return DecodeWork::whole;
  return Error(Code::invalid, fmt::format("no work is called \"{}\"", text),
               "train, validation or whole");
}

Result<std::vector<DecodeRate>> measure_decode_rates(std::span<const Bytes> pictures,
                                                     const DecodeRateOptions& options,
                                                     const std::stop_token& stop) {
  HEADRACE_TRY(const auto prepared, prepare(pictures));
  const std::vector<Way> ways = ways_of(options.work);
  std::vector<Workers> workers(ways.size());
  for (std::size_t way = 0; way < ways.size(); ++way) {
    for (unsigned thread = 0; thread < options.threads; ++thread) {
      workers[way].push_back(
          std::make_unique<Worker>(ways[way], options.work, prepared, thread, options.threads));
    }
  }
  HEADRACE_TRY(const auto turns, take_turns(ways, workers, options, stop));
  std::vector<DecodeRate> rates;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    rates.push_back(rate_of(ways[way], way, turns, options.threads));
  }
  return rates;
}

std::string sampling_of(ByteSpan picture) {
  const auto outcome = jpeg::parse(picture);
  if (!outcome.headers) return "other";
  const auto& headers = *outcome.headers;
  if (headers.component_count == 1) return "grey";
  const auto& luma = headers.components[0];
  if (luma.h == 1 && luma.v == 1) return "4:4:4";
  if (luma.h == 2 && luma.v == 2) return "4:2:0";
  return luma.h == 2 ? "4:2:2" : "other";
}

}  // namespace headrace
