// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decode_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <thread>

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

/// One thread of one way: goes on where it stopped at its last turn.
class Worker {
 public:
  Worker(const Way& way, DecodeWork work, std::span<const Picture> pictures, std::size_t first,
         std::size_t step)
      : way_(way),
        work_(work),
        pictures_(pictures),
        next_(first),
        step_(step),
        transform_(transform(work)),
        decoder_(limits(way)) {}

  struct Turn {
    std::uint64_t images = 0;
    std::uint64_t bytes = 0;
    double cpu_seconds = 0;
  };

  Result<Turn> run(std::chrono::steady_clock::time_point until, const std::stop_token& stop) {
    Turn turn;
    const double before = thread_seconds();
    while (turn.images == 0 || std::chrono::steady_clock::now() < until) {
      if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
      HEADRACE_TRY(one());
      ++turn.images;
      turn.bytes += decoder_.bytes_touched();
    }
    turn.cpu_seconds = thread_seconds() - before;
    return turn;
  }

  Result<void> one() {
    const Picture& picture = pictures_[next_ % pictures_.size()];
    const SampleKey key{1, next_ / pictures_.size(), next_ % pictures_.size()};
    next_ += step_;
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
  std::size_t next_;
  std::size_t step_;
  Transform transform_;
  Decoder decoder_;
  std::vector<std::byte> recorded_;
  std::vector<std::byte> out_ = std::vector<std::byte>(transform_.sample_bytes());
};

struct Measured {
  std::vector<double> wall, cpu;
  std::uint64_t images = 0, bytes = 0;
};

Result<void> take_turn(std::vector<std::unique_ptr<Worker>>& workers, double seconds,
                       Measured& measured, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto until = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(seconds));
  std::vector<std::optional<Result<Worker::Turn>>> turns(workers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      threads.emplace_back([&, i] { turns[i] = workers[i]->run(until, stop); });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::uint64_t images = 0;
  double cpu = 0;
  for (auto& turn : turns) {
    HEADRACE_TRY(const auto done, *std::move(turn));
    images += done.images;
    measured.bytes += done.bytes;
    cpu += done.cpu_seconds;
  }
  measured.images += images;
  measured.wall.push_back(static_cast<double>(images) / took.count());
  measured.cpu.push_back(static_cast<double>(images) / cpu);
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
  return all;
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
  std::vector<std::vector<std::unique_ptr<Worker>>> workers(ways.size());
  std::vector<Measured> measured(ways.size());
  for (std::size_t way = 0; way < ways.size(); ++way) {
    for (unsigned thread = 0; thread < options.threads; ++thread) {
      workers[way].push_back(
          std::make_unique<Worker>(ways[way], options.work, prepared, thread, options.threads));
    }
  }
  const double slice = options.seconds / (options.turns * static_cast<double>(ways.size()));
  Result<void> done;
  for (unsigned turn = 0; turn < options.turns && done; ++turn) {
    for (std::size_t way = 0; way < ways.size() && done; ++way) {
      (void)use_vector_unit(ways[way].unit);
      done = take_turn(workers[way], slice, measured[way], stop);
    }
  }
  (void)use_vector_unit(VectorUnit::best);
  HEADRACE_TRY(std::move(done));
  std::vector<DecodeRate> rates;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const Measured& result = measured[way];
    rates.push_back({ways[way].who, options.threads, median(result.wall), median(result.cpu),
                     static_cast<double>(result.bytes) / static_cast<double>(result.images)});
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
