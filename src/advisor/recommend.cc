// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/recommend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

namespace headrace::advisor {
namespace {

using Rows = std::vector<const Row*>;

double spread_of(const Row& row) { return row.figures->spread.value_or(kAssumedSpread); }
double total(const Row& row) { return row.figures->total_seconds; }
double rate(const Row& row) { return row.figures->samples_per_second; }
double dollars(const Row& row) { return row.figures->cost_usd.value_or(0); }

/// Whether a and b, measured on rows x and y, are no different.
bool tied(double a, double b, const Row& x, const Row& y) {
  const double least = std::min(a, b);
  return std::max(a, b) - least <= least * std::max(spread_of(x), spread_of(y));
}

/// The rows whose value is tied with the least.
template <class Value>
Rows least(const Rows& rows, Value value) {
  const auto* best = *std::min_element(
      rows.begin(), rows.end(), [&](const Row* a, const Row* b) { return value(*a) < value(*b); });
  Rows kept;
  for (const auto* row : rows) {
    if (tied(value(*row), value(*best), *row, *best)) kept.push_back(row);
  }
  return kept;
}

Rows fewest(const Rows& rows, const ManageabilityBook& book) {
  const auto count = [&](const Row& row) { return book.facts(row.mode, row.format).count(); };
  unsigned best = count(*rows.front());
  for (const auto* row : rows) best = std::min(best, count(*row));
  Rows kept;
  for (const auto* row : rows) {
    if (count(*row) == best) kept.push_back(row);
  }
  return kept;
}

bool costs_known(const Rows& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const Row* row) { return row->figures->cost_usd.has_value(); });
}

/// Whether the row read a copy of a set that is kept elsewhere.
bool reads_a_copy(const Row& row) { return row.mode == "direct" && row.uri.starts_with("s3://"); }

/// How long it takes to make that copy, if mode file did it with the same form of the set.
std::optional<double> copy_seconds(const Row& row, const Rows& rows) {
  for (const auto* other : rows) {
    if (other->mode == "file" && other->format == row.format) return other->figures->launch_seconds;
  }
  return std::nullopt;
}

struct Choice {
  const Row* row = nullptr;
  std::string settled;  ///< by what
};

/// The rule of the header. REQUIRES: rows is not empty
Choice choose(const Rows& rows, const ManageabilityBook& book) {
  auto left = least(rows, total);
  if (left.size() == 1) return {left.front(), "time"};
  if (costs_known(left)) {
    left = least(left, dollars);
    if (left.size() == 1) return {left.front(), "cost"};
  }
  left = fewest(left, book);
  if (left.size() == 1) return {left.front(), "manageability"};
  const auto* first = *std::min_element(
      left.begin(), left.end(), [](const Row* a, const Row* b) { return total(*a) < total(*b); });
  return {first, "the smaller total, though it is no real difference"};
}

/// "812", "81.2", "8.12": three figures, as many as repeats of seconds can carry.
std::string number(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string money(double value) {
  return value < 0.01 ? fmt::format("${:.3g}", value) : fmt::format("${:.3f}", value);
}

class Sentences {
 public:
  Sentences(const Row& chosen, Rows rows, const ManageabilityBook& book)
      : chosen_(chosen), rows_(std::move(rows)), book_(book) {
    for (const auto* row : rows_) {
      with_format_ = with_format_ || row->format != chosen_.format;
      for (const auto* other : rows_) {
        with_medium_ = with_medium_ || (row->mode == other->mode && row->medium != other->medium);
      }
    }
  }

  std::string time() const {
    return "Time: " + compared(
                          total, [](double v) { return number(v) + " s in total"; }, false);
  }
  std::string speed() const {
    return "Speed: " + compared(
                           rate, [](double v) { return number(v) + " samples/s"; }, true);
  }
  std::string cost() const {
    if (!costs_known(rows_)) return "Cost: not counted, since no instance was named (--instance).";
    return "Cost: " + compared(dollars, money, false);
  }
  std::string manageability() const {
    std::string text = fmt::format("Manageability: {}: {}", label(chosen_), facts(chosen_));
    Rows others;
    for (const auto* row : rows_) {
      if (row != &chosen_) others.push_back(row);
    }
    const auto easiest = others.empty() ? Rows{} : fewest(others, book_);
    if (!easiest.empty())
      text += fmt::format("; {}: {}", label(*easiest.front()), facts(*easiest.front()));
    return text + ".";
  }
  /// Direct reads a copy that somebody has made before; file shows how long that takes.
  std::optional<std::string> copy() const {
    for (const auto* row : rows_) {
      if (!reads_a_copy(*row)) continue;
      const auto seconds = copy_seconds(*row, rows_);
      if (!seconds) return "The totals of direct leave out the time to put the set on its disk.";
      return fmt::format(
          "Time and cost of direct count the time to put the set on its disk, as file fetched it: "
          "{} "
          "s.",
          number(*seconds));
    }
    return std::nullopt;
  }
  /// What reading in parts saved, on each form and medium.
  std::vector<std::string> parts() const {
    std::vector<std::string> found;
    for (const auto* row : rows_) {
      if (!row->partial_reads) continue;
      for (const auto* whole : rows_) {
        if (whole->partial_reads || whole->mode != row->mode || whole->uri != row->uri ||
            whole->medium != row->medium || whole->figures->bytes_cache == 0)
          continue;
        found.push_back(saving(*row, *whole));
      }
    }
    return found;
  }
  /// What was set to fit a known result cannot foretell one.
  std::optional<std::string> fitted() const {
    std::set<std::string> inputs;
    for (const auto* row : rows_) inputs.insert(row->fitted.begin(), row->fitted.end());
    if (inputs.empty()) return std::nullopt;
    return fmt::format(
        "Fitted to a published result: {}. Rows that rest on them illustrate; they predict "
        "nothing.",
        fmt::join(inputs, ", "));
  }

 private:
  std::string saving(const Row& row, const Row& whole) const {
    const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    const double few = megabytes(row.figures->bytes_cache);
    const double all = megabytes(whole.figures->bytes_cache);
    std::string text = fmt::format("In parts: {} read {} MB from its cache, {} {} MB: {:.1f} % {}",
                                   label(row), number(few), label(whole), number(all),
                                   std::abs(all - few) / all * 100, few < all ? "less" : "more");
    const auto& epochs = row.figures->later_epoch_seconds;
    const auto& epochs_whole = whole.figures->later_epoch_seconds;
    if (epochs && epochs_whole)
      text += fmt::format("; a later epoch took {} s, and {} s", number(*epochs),
                          number(*epochs_whole));
    return text + ".";
  }
  std::string label(const Row& row) const { return row.label(with_format_, with_medium_); }
  std::string facts(const Row& row) const {
    const auto all = book_.facts(row.mode, row.format);
    return fmt::format("{} ({})", all.count(), all.sentence());
  }

  /// "keep 12.3 s; best stream 12.0 s, 2.5 % less: no difference (spread 4.0 %)."
  std::string compared(const std::function<double(const Row&)>& value,
                       const std::function<std::string(double)>& print, bool more_is_better) const {
    const Row* other = nullptr;  // the best of the others
    for (const auto* row : rows_) {
      if (row == &chosen_) continue;
      if (other == nullptr || (value(*row) > value(*other)) == more_is_better) other = row;
    }
    const double own = value(chosen_);
    std::string text = fmt::format("{} {}", label(chosen_), print(own));
    if (other == nullptr) return text + "; nothing else ran to compare it with.";
    const double theirs = value(*other);
    const double difference = own > 0 ? (theirs - own) / own * 100 : 0;
    text += fmt::format("; the best of the others, {}, {}: {:.1f} % {}", label(*other),
                        print(theirs), std::abs(difference), difference < 0 ? "less" : "more");
    const double width = std::max(spread_of(chosen_), spread_of(*other)) * 100;
    const bool assumed = !chosen_.figures->spread || !other->figures->spread;
    const auto* spread_is = assumed ? "a spread of {:.1f} % is assumed for single runs"
                                    : "the spread of the repeats is {:.1f} %";
    text += tied(own, theirs, chosen_, *other) ? ", no difference (" : " (";
    return text + fmt::format(fmt::runtime(spread_is), width) + ").";
  }

  const Row& chosen_;
  Rows rows_;
  const ManageabilityBook& book_;
  bool with_format_ = false;
  bool with_medium_ = false;  ///< a mode ran over several media
};

}  // namespace

Recommendation recommend(const std::vector<Row>& rows, const ManageabilityBook& book) {
  std::vector<Row> ran;
  for (const auto& row : rows) {
    if (row.status == Status::ok) ran.push_back(row);
  }
  Rows ok;
  for (const auto& row : ran) ok.push_back(&row);
  for (auto& row : ran) {
    if (!reads_a_copy(row)) continue;
    auto& figures = *row.figures;
    const double measured = figures.total_seconds;
    figures.total_seconds += copy_seconds(row, ok).value_or(0);
    // A local disk has no price per request: what direct costs goes with the time it takes.
    if (figures.cost_usd && measured > 0) *figures.cost_usd *= figures.total_seconds / measured;
  }
  Recommendation advice;
  if (ok.empty()) {
    advice.because.emplace_back("No mode ran to its end, so there is nothing to choose from.");
    return advice;
  }
  const auto [chosen, settled] = choose(ok, book);
  advice.mode = chosen->mode;
  advice.format = chosen->format;
  advice.partial_reads = chosen->partial_reads;
  const Sentences sentences(*chosen, ok, book);
  advice.because = {sentences.time(), sentences.speed(), sentences.cost(),
                    sentences.manageability()};
  if (ok.size() > 1) advice.because.push_back(fmt::format("Settled by {}.", settled));
  if (auto copy = sentences.copy()) advice.because.push_back(*std::move(copy));
  for (auto& saved : sentences.parts()) advice.because.push_back(std::move(saved));
  if (auto fitted = sentences.fitted()) advice.because.push_back(*std::move(fitted));

  Rows others;
  for (const auto* row : ok) {
    if (row->mode != chosen->mode) others.push_back(row);
  }
  if (!others.empty()) advice.runner_up = choose(others, book).row->mode;
  return advice;
}

}  // namespace headrace::advisor
