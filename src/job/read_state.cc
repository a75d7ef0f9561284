// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/read_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

#include "headrace/base/parse_number.h"
#include "headrace/base/small_file.h"
#include "headrace/base/unique_fd.h"
#include "headrace/base/write_all.h"

namespace headrace {
namespace {

constexpr std::string_view kEpoch = "epoch-ended";
constexpr std::string_view kValidation = "validation-ended";

constexpr std::array<std::pair<std::string_view, std::uint64_t Ledger::*>, 7> kLedger = {
    {{"asked", &Ledger::asked},
     {"delivered", &Ledger::delivered},
     {"substituted", &Ledger::substituted},
     {"skipped", &Ledger::skipped},
     {"dropped", &Ledger::dropped},
     {"padded", &Ledger::padded},
     {"quarantined", &Ledger::quarantined}}};

std::string line_of(std::string_view kind, const EpochResult& result) {
  const EpochReport& report = result.report;
  std::string line =
      fmt::format("{} epoch={} order={} set={} seconds={:.6f}", kind, report.epoch,
                  report.order_digest.to_hex(), report.set_digest.to_hex(), report.seconds);
  if (report.in_parts != 0) line += fmt::format(" in-parts={}", report.in_parts);
  if (result.accelerator_busy) line += fmt::format(" busy={:.6f}", *result.accelerator_busy);
  for (const auto& [name, field] : kLedger) {
    line += fmt::format(" {}={}", name, report.ledger.*field);
  }
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    line += fmt::format(" {}={}", to_string(static_cast<Metric>(i)), report.metrics[i]);
  }
  return line + "\n";
}

template <class Number>
bool read_number(const std::map<std::string, std::string>& words, const std::string& name,
                 Number& number) {
  const auto found = words.find(name);
  if (found == words.end()) return false;
  const auto parsed = parse_number<Number>(found->second);
  if (parsed) number = *parsed;
  return parsed.has_value();
}

Result<EpochResult> parse_line(const std::string& line) {
  std::istringstream in(line);
  std::map<std::string, std::string> words;
  for (std::string word; in >> word;) {
    const auto equal = word.find('=');
    if (equal != std::string::npos) words[word.substr(0, equal)] = word.substr(equal + 1);
  }
  EpochResult result;
  EpochReport& report = result.report;
  const auto order = Hash128::from_hex(words["order"]);
  const auto set = Hash128::from_hex(words["set"]);
  bool good = order && set && read_number(words, "epoch", report.epoch) &&
              read_number(words, "seconds", report.seconds);
  for (const auto& [name, field] : kLedger) {
    good = good && read_number(words, std::string(name), report.ledger.*field);
  }
  if (!good) return Error(Code::invalid, fmt::format("damaged line '{}'", line)).at("state");
  report.order_digest = *order;
  report.set_digest = *set;
  read_number(words, "in-parts", report.in_parts);
  double busy = 0;
  if (read_number(words, "busy", busy)) result.accelerator_busy = busy;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    // A counter that the writer did not know stays 0.
    read_number(words, std::string(to_string(static_cast<Metric>(i))), report.metrics[i]);
  }
  return result;
}

/// The other rank's share of the same epochs. Ranks run side by side: the longest counts.
Result<void> add(std::vector<EpochResult>& sums, const std::vector<EpochResult>& more) {
  if (sums.size() != more.size()) {
    return Error(Code::invalid, "the ranks' states have different numbers of ended epochs")
        .at("state");
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EpochReport& sum = sums[i].report;
    const EpochReport& report = more[i].report;
    sum.ledger += report.ledger;
    sum.order_digest += report.order_digest;
    sum.set_digest += report.set_digest;
    sum.in_parts += report.in_parts;
    sum.seconds = std::max(sum.seconds, report.seconds);
    for (std::size_t m = 0; m < sum.metrics.size(); ++m) sum.metrics[m] += report.metrics[m];
  }
  return {};
}

}  // namespace

std::string ReadState::to_text() const {
  std::string text = state.to_text();
  for (const EpochResult& result : epochs) text += line_of(kEpoch, result);
  for (const EpochResult& result : validation) text += line_of(kValidation, result);
  return text;
}

Result<ReadState> ReadState::parse(std::string_view text) {
  ReadState parsed;
  HEADRACE_TRY(parsed.state, State::parse(text));
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::string_view kind = std::string_view(line).substr(0, line.find(' '));
    if (kind != kEpoch && kind != kValidation) continue;
    HEADRACE_TRY(const auto result, parse_line(line));
    (kind == kEpoch ? parsed.epochs : parsed.validation).push_back(result);
  }
  return parsed;
}

Result<ReadState> merge(std::span<const ReadState> states) {
  std::vector<State> places;
  for (const ReadState& state : states) places.push_back(state.state);
  HEADRACE_TRY(State whole, merge(places));
  ReadState merged = states.front();
  merged.state = std::move(whole);
  for (const ReadState& other : states.subspan(1)) {
    HEADRACE_TRY(add(merged.epochs, other.epochs));
    HEADRACE_TRY(add(merged.validation, other.validation));
  }
  return merged;
}

Result<void> save(const ReadState& state, const std::string& path) {
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  constexpr mode_t mode = 0644;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
  UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.valid()) return errno_error(errno, "open the state file").at(path);
  const std::string text = state.to_text();
  ByteSpan bytes = as_byte_span(text);
  Result<void> written;
  if (const int failed = write_all(fd.get(), bytes); failed != 0)
    written = errno_error(failed, "write the state");
  if (written) written = std::move(fd).close();
  if (written && ::rename(beside.c_str(), path.c_str()) != 0) {
    written = errno_error(errno, "rename the state file");
  }
  if (!written) ::unlink(beside.c_str());
  return std::move(written).at(path);
}

Result<ReadState> load_read_state(std::span<const std::string> paths) {
  std::vector<ReadState> states;
  for (const std::string& path : paths) {
    HEADRACE_TRY(const auto text, read_small_file(path));
    HEADRACE_TRY(auto state, ReadState::parse(text).at(path));
    states.push_back(std::move(state));
  }
  if (states.size() == 1) return std::move(states.front());
  return merge(states);
}

}  // namespace headrace
