// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

constexpr std::string_view kHeader = "headrace-state 1";

/// Each numeric key with its field, once for writing and reading.
template <class AnyState, class Visit>
void each_number(AnyState& state, const Visit& visit) {
  visit("seed", state.seed);
  visit("epoch", state.epoch);
  visit("position", state.position);
  visit("samples", state.samples);
  visit("global-batch", state.global_batch);
  visit("rank", state.rank);
  visit("world", state.world);
  visit("asked", state.ledger.asked);
  visit("delivered", state.ledger.delivered);
  visit("substituted", state.ledger.substituted);
  visit("skipped", state.ledger.skipped);
  visit("dropped", state.ledger.dropped);
  visit("padded", state.ledger.padded);
  visit("quarantined", state.ledger.quarantined);
}

Error bad_state(std::string cause) { return Error(Code::invalid, std::move(cause)).at("state"); }

std::map<std::string_view, std::string_view> lines_of(std::string_view text) {
  std::map<std::string_view, std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const auto space = line.find(' ');
    if (space != std::string_view::npos) lines[line.substr(0, space)] = line.substr(space + 1);
  }
  return lines;
}

Result<Hash128> parse_hash(std::string_view key, std::string_view text) {
  const auto hash = Hash128::from_hex(text);
  if (!hash) return bad_state(fmt::format("{} is not 32 hexadecimal digits: '{}'", key, text));
  return *hash;
}

/// The state as if nothing had been delivered yet: where it stands, without the sums.
State without_sums(State state) {
  state.ledger = {};
  state.order_digest = {};
  state.set_digest = {};
  state.in_parts = 0;
  return state;
}

}  // namespace

Ledger& Ledger::operator+=(const Ledger& other) {
  asked += other.asked;
  delivered += other.delivered;
  substituted += other.substituted;
  skipped += other.skipped;
  dropped += other.dropped;
  padded += other.padded;
  quarantined += other.quarantined;
  return *this;
}

std::string State::to_text() const {
  std::string text(kHeader);
  text += fmt::format("\norder-version {}\ndigest-version {}\n", kOrderVersion, kDigestVersion);
  text += fmt::format("shuffle {}\ntail {}\n", to_string(shuffle), tail);
  each_number(*this, [&text](std::string_view key, std::uint64_t value) {
    text += fmt::format("{} {}\n", key, value);
  });
  if (!selection.empty()) text += fmt::format("selection {}\n", selection);
  if (in_parts != 0) text += fmt::format("in-parts {}\n", in_parts);
  text += fmt::format("fingerprint {}\ntransform {}\norder-digest {}\nset-digest {}\n", fingerprint,
                      transform, order_digest.to_hex(), set_digest.to_hex());
  return text;
}

Result<State> State::parse(std::string_view text) {
  const auto header = text.substr(0, text.find('\n'));
  if (header != kHeader) {
    if (header.starts_with("headrace-state ")) {
      return bad_state(
          fmt::format("begins with '{}', not with '{}'", header.substr(0, 40), kHeader));
    }
    return Error(Code::invalid, fmt::format("does not begin with the line '{}'", kHeader),
                 "give a file that --state wrote")
        .at("state");
  }
  const auto lines = lines_of(text);
  const auto find = [&lines](std::string_view key) -> Result<std::string_view> {
    const auto found = lines.find(key);
    if (found == lines.end()) return bad_state(fmt::format("has no line '{}'", key));
    return found->second;
  };
  State state;
  Result<void> numbers;
  each_number(state, [&](std::string_view key, std::uint64_t& value) {
    const auto word = find(key);
    if (!word) {
      numbers = word.error();
      return;
    }
    if (const auto number = parse_number<std::uint64_t>(*word)) {
      value = *number;
    } else {
      numbers = bad_state(fmt::format("{} is not a number: '{}'", key, *word));
    }
  });
  HEADRACE_TRY(numbers);
  for (const auto& [key, version] :
       {std::pair("order-version", kOrderVersion), std::pair("digest-version", kDigestVersion)}) {
    HEADRACE_TRY(const auto word, find(key));
    if (word != fmt::format("{}", version)) {
      return bad_state(fmt::format("has {} {}; this program has {}", key, word, version))
          .advise("go on with the version of headrace that wrote it");
    }
  }
  HEADRACE_TRY(const auto shuffle, find("shuffle"));
  HEADRACE_TRY(state.shuffle, parse_shuffle(shuffle).at("state"));
  HEADRACE_TRY(state.tail, find("tail"));
  if (lines.contains("selection")) state.selection = lines.at("selection");
  if (lines.contains("in-parts")) {
    const auto number = parse_number<std::uint64_t>(lines.at("in-parts"));
    if (!number) return bad_state("in-parts is not a number");
    state.in_parts = *number;
  }
  HEADRACE_TRY(state.fingerprint, find("fingerprint"));
  HEADRACE_TRY(state.transform, find("transform"));
  HEADRACE_TRY(const auto order_digest, find("order-digest"));
  HEADRACE_TRY(state.order_digest, parse_hash("order-digest", order_digest));
  HEADRACE_TRY(const auto set_digest, find("set-digest"));
  HEADRACE_TRY(state.set_digest, parse_hash("set-digest", set_digest));
  return state;
}

Result<State> merge(std::span<const State> states) {
  if (states.empty()) return bad_state("no states to merge");
  std::vector<bool> seen(states.size());
  const State& first = states.front();
  State whole = without_sums(first);
  for (const State& state : states) {
    if (state.world != states.size()) {
      return bad_state(fmt::format("of rank {} of {} ranks, but {} states are given", state.rank,
                                   state.world, states.size()))
          .advise("give the state of every rank");
    }
    if (state.rank >= state.world || seen[state.rank]) {
      return bad_state(fmt::format("of rank {} is given twice, or is outside its world of {}",
                                   state.rank, state.world));
    }
    seen[state.rank] = true;
    State place = without_sums(state);
    place.rank = first.rank;
    if (place != without_sums(first)) {
      return bad_state(fmt::format(
          "of rank {} (epoch {}, position {}) and of rank {} (epoch {}, "
          "position {}) are not of one job at one moment",
          first.rank, first.epoch, first.position, state.rank, state.epoch, state.position));
    }
    whole.ledger += state.ledger;
    whole.order_digest += state.order_digest;
    whole.set_digest += state.set_digest;
    whole.in_parts += state.in_parts;
  }
  whole.rank = 0;
  whole.world = 1;
  return whole;
}

Result<State> state_for_rank(const State& state, std::uint64_t rank, std::uint64_t world) {
  const bool own = state.rank == rank && state.world == world;
  const bool whole = state.rank == 0 && state.world == 1;
  if (!own && !whole) {
    return bad_state(fmt::format("is of rank {} of {}, this is rank {} of {}", state.rank,
                                 state.world, rank, world))
        .advise("give the states of all old ranks, to be merged");
  }
  State mine = rank == 0 || own ? state : without_sums(state);
  mine.rank = rank;
  mine.world = world;
  return mine;
}

}  // namespace headrace
