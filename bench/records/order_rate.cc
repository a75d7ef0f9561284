// SPDX-License-Identifier: Apache-2.0
// What order and state cost, printed as JSON.
//     order_rate order SHUFFLE SAMPLES SECONDS     position → sample, on one core, a step at a time
//     order_rate single SHUFFLE SAMPLES SECONDS    the same, one position a call
//     order_rate state FILE                        saved at sample 10^8 of an epoch, and restored
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "headrace/base/clock.h"
#include "headrace/job/read_state.h"
#include "headrace/loader/fetcher.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"

namespace {

using namespace headrace;
using nlohmann::json;

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Memory of this process that no file stands behind, in kB.
long private_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kb = 0;
    if (word == "RssAnon:" && status >> kb) return kb;
  }
  return 0;
}

Result<json> order_rate(std::string_view text, std::uint64_t samples, double seconds, bool single) {
  constexpr std::uint64_t kAtOnce = 1U << 16U;
  constexpr std::uint64_t kStep = 256;  // as the loader's plan asks, a batch at a time
  HEADRACE_TRY(Shuffle shuffle, parse_shuffle(text));
  HEADRACE_TRY(shuffle, with_step(shuffle, 256 * std::max<std::uint64_t>(1, shuffle.nodes)));
  const long before = private_kb();
  const Order order(shuffle, 1, 2, samples);
  std::array<std::uint64_t, kStep> step{};
  std::uint64_t position = 0, done = 0, sum = 0;
  const double begin = processor_seconds();
  double taken = 0;
  while (taken < seconds) {
    for (std::uint64_t i = 0; i < kAtOnce; i += kStep) {
      for (std::uint64_t& place : step) {
        place = position;
        if (++position == samples) position = 0;
      }
      if (single) {
        for (std::uint64_t& place : step) place = order.at(place);
      } else {
        order.at(step);
      }
      for (const std::uint64_t sample : step) sum += sample;
    }
    done += kAtOnce;
    taken = processor_seconds() - begin;
  }
  return json{{"samples_per_second", static_cast<double>(done) / taken},
              {"private_kb", private_kb() - before},
              {"sum", sum}};
}

/// One epoch's state to a file and back, and the first step after it.
Result<json> state_rate(const std::string& path) {
  constexpr std::uint64_t kSamples = 200'000'000, kAt = 100'000'000, kBatch = 250;
  ReadState state;
  state.state.seed = 7;
  state.state.samples = kSamples;
  state.state.position = kAt;
  state.state.global_batch = kBatch;
  state.state.tail = "keep";
  state.state.fingerprint = state.state.order_digest.to_hex();
  state.state.ledger.asked = state.state.ledger.delivered = kAt;
  constexpr int kTimes = 20;
  std::vector<double> taken;
  for (int i = 0; i < kTimes; ++i) {
    const Nanos begin = real_clock().now();
    HEADRACE_TRY(save(state, path));
    const std::string one[] = {path};
    HEADRACE_TRY(const auto restored, load_read_state(one));
    HEADRACE_TRY(const Plan plan, Plan::make({.samples = restored.state.samples, .batch = kBatch}));
    HEADRACE_TRY(const std::uint64_t step, plan.step_at(restored.state.position));
    Walk walk(plan, {.seed = restored.state.seed, .first_step = step});
    const auto work = walk.next();
    const std::chrono::duration<double, std::milli> spent = real_clock().now() - begin;
    if (work == nullptr || work->items[0].slot.position != kAt)
      return Error(Code::invalid, "did not go on where it was");
    taken.push_back(spent.count());
  }
  std::ranges::sort(taken);
  return json{{"milliseconds", taken[kTimes / 2]}, {"most", taken.back()}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Result<json> measured = Error(Code::invalid,
                                "usage: order_rate order|single SHUFFLE SAMPLES SECONDS, or "
                                "order_rate state FILE");
  if (words.size() == 4 && (words[0] == "order" || words[0] == "single")) {
    measured = order_rate(words[1], std::strtoull(words[2].c_str(), nullptr, 10),
                          std::strtod(words[3].c_str(), nullptr), words[0] == "single");
  } else if (words.size() == 2 && words[0] == "state") {
    measured = state_rate(words[1]);
  }
  if (!measured) {
    std::ignore = std::fputs((measured.error().to_string() + "\n").c_str(), stderr);
    return 1;
  }
  std::ignore = std::puts(measured->dump().c_str());
  return 0;
}
