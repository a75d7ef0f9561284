// SPDX-License-Identifier: Apache-2.0
// s3_read_rate URI [BLOCK [IN_FLIGHT]]: reads every object below it once, as fast as it goes, and
// prints one object of JSON with the wall and processor seconds of the reads (not of the listing).
// What bench/storage/run compares with other clients. Objects above 64 MiB are read as ranges of
// that size, two at once, so that the memory in use stays small and is used again, as a job's is;
// it has been used once before the clock starts. With BLOCK every object is read in blocks of so
// many bytes, in random order; IN_FLIGHT of them by a local folder's threads, or connections to an
// NFS server, and four times as many are asked for, as by a job.
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "headrace/base/random.h"
#include "headrace/storage/open_store.h"

namespace headrace {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{64} << 20U;
constexpr std::ptrdiff_t kSmallInFlight =
    512;  // asked for; how many are on the wire the store finds
constexpr std::ptrdiff_t kLargeInFlight = 2;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Piece {
  const ObjectInfo* object;
  ByteRange range;
};

/// In an order that is the same in every run.
void shuffle(std::vector<Piece>& pieces) {
  Random random(1);
  for (std::size_t i = pieces.size(); i > 1; --i)
    std::swap(pieces[i - 1], pieces[random.next() % i]);
}

Result<int> run(const std::string& text, std::uint64_t block, std::ptrdiff_t in_flight) {
  Context context;
  HEADRACE_TRY(const Uri uri, parse_uri(text));
  StoreOptions options{.root = StoreOptions::Root::folder};
  if (in_flight != 0) {
    options.local_threads = static_cast<unsigned>(in_flight);
    options.nfs.connections = static_cast<unsigned>(in_flight);
  }
  HEADRACE_TRY(auto store, open_store(uri, context, options));
  HEADRACE_TRY(const auto objects, list_all(*store, "", {}));
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  for (const ObjectInfo& object : objects) {
    bytes += object.size;
    for (std::uint64_t at = 0; at < object.size; at += kPiece)
      pieces.push_back({&object, {at, std::min(kPiece, object.size - at)}});
  }
  if (block != 0) {
    pieces.clear();
    for (const ObjectInfo& object : objects)
      for (std::uint64_t at = 0; at < object.size; at += block)
        pieces.push_back({&object, {at, std::min(block, object.size - at)}});
    shuffle(pieces);
  }
  const bool large = block == 0 && !objects.empty() && objects.front().size > kPiece;
  std::counting_semaphore<> slots(in_flight != 0 ? 4 * in_flight
                                  : large        ? kLargeInFlight
                                                 : kSmallInFlight);
  if (large) {
    std::vector<std::byte> used(kLargeInFlight * kPiece, std::byte{1});
    used.clear();
    used.shrink_to_fit();
  }
  std::latch all(static_cast<std::ptrdiff_t>(pieces.size()));
  std::atomic<int> failed{0};
  const double processor = processor_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (const Piece& piece : pieces) {
    slots.acquire();
    store->read({.key = piece.object->key, .range = piece.range, .pin = piece.object->pin},
                [&](const Result<ReadResult>& read) {
                  if (!read.ok()) ++failed;
                  slots.release();
                  all.count_down();
                });
  }
  all.wait();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const nlohmann::json report = {{"objects", objects.size()},
                                 {"bytes", bytes},
                                 {"seconds", wall},
                                 {"cpu_seconds", processor_seconds() - processor},
                                 {"failed", failed.load()},
                                 {"requests", context.metrics->get(Metric::requests)},
                                 {"hedges", context.metrics->get(Metric::hedges)},
                                 {"retries", context.metrics->get(Metric::retries)}};
  fmt::print("{}\n", report.dump());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headrace

// NOLINTNEXTLINE(bugprone-exception-escape): what cannot be printed ends the program
int main(int count, char** values) {
  const auto number = [&](int at) {
    return at < count ? std::strtoull(values[at], nullptr, 10) : 0;
  };
  if (count < 2 || count > 4) {
    fmt::print(stderr, "s3_read_rate URI [BLOCK [IN_FLIGHT]]\n");
    return 2;
  }
  // Memory that is given back is used again, as a job's pool does, and not returned to the system.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const auto code = headrace::run(values[1], number(2), static_cast<std::ptrdiff_t>(number(3)));
  if (!code) fmt::print(stderr, "{}\n", code.error().to_string());
  return code.ok() ? *code : 1;
}
