// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/text_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headrace::advisor {
namespace {

constexpr std::size_t kWidth = 100;

using Cells = std::vector<std::string>;

std::string seconds(double value) {
  return value >= 100 ? fmt::format("{:.0f} s", value) : fmt::format("{:.2f} s", value);
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", *share * 100) : "-";
}

std::string megabytes(std::uint64_t bytes) {
  const double mega = static_cast<double>(bytes) / 1e6;
  return mega >= 10000 ? fmt::format("{:.1f} GB", mega / 1000) : fmt::format("{:.0f} MB", mega);
}

/// "2 h 03 min": of a job that nobody waited for here, so minutes are enough.
std::string hours(std::optional<double> value) {
  if (!value) return "-";
  const auto minutes = static_cast<std::uint64_t>(std::llround(*value / 60));
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

/// Whether the medium itself was fitted; what was fitted for all rows stands below the table.
bool medium_fitted(const Row& row) {
  return std::any_of(row.fitted.begin(), row.fitted.end(), [&](const std::string& input) {
    return input.ends_with(" of " + row.medium);
  });
}

/// `with_cache`: what the cache gave is worth a column.
Cells cells(const Row& row, bool with_cache) {
  const auto& figures = *row.figures;
  return {row.mode + (row.partial_reads ? ", in parts" : ""),
          (medium_fitted(row) ? row.medium + " (fitted)" : row.medium) +
              (row.keep_medium == "none" ? "" : ", cache " + row.keep_medium),
          seconds(figures.launch_seconds),
          fmt::format("{:.0f}", figures.samples_per_second),
          seconds(figures.first_epoch_seconds),
          figures.later_epoch_seconds ? seconds(*figures.later_epoch_seconds) : "-",
          seconds(figures.total_seconds),
          hours(row.scaled_total_seconds()),
          hours(row.published_seconds),
          with_cache ? megabytes(figures.bytes_cache) : "-",
          percent(figures.spread),
          percent(figures.accelerator_busy),
          figures.cost_usd ? fmt::format("${:.6f}", *figures.cost_usd) : "-",
          std::string(to_string(figures.cold))};
}

/// Words in lines of at most kWidth, the first after `first`, the others after `indent` blanks.
std::string wrapped(std::string_view first, std::size_t indent, std::string_view text) {
  std::string out(first);
  std::size_t column = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

class Grid {
 public:
  explicit Grid(Cells head) { add(std::move(head)); }
  void add(Cells cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths_[i] = std::max(widths_[i], cells[i].size());
    }
    lines_.push_back(std::move(cells));
  }
  /// Columns without a value in any row are left out.
  std::string line(std::size_t number) const {
    std::string out;
    for (std::size_t i = 0; i < lines_[number].size(); ++i) {
      if (empty(i)) continue;
      const bool left = i < 2 || i + 1 == lines_[number].size();
      out += left ? fmt::format("  {:<{}}", lines_[number][i], widths_[i])
                  : fmt::format("  {:>{}}", lines_[number][i], widths_[i]);
    }
    return out.erase(out.find_last_not_of(' ') + 1) + "\n";
  }

 private:
  bool empty(std::size_t column) const {
    return lines_.size() > 1 && std::all_of(lines_.begin() + 1, lines_.end(),
                                            [&](const auto& line) { return line[column] == "-"; });
  }

  std::vector<Cells> lines_;
  std::array<std::size_t, 14> widths_{};
};

std::string set_text(const Table& table, std::size_t set) {
  const auto& spec = table.spec.sets[set];
  const auto& info = table.sets[set];
  std::string out = fmt::format("\n{}: {}, {} pictures, {}\n", fmt::join(spec.uris(), " + "),
                                info.format, with_commas(info.samples), megabytes(info.bytes));
  const auto full = fmt::format("total x {}", table.spec.scale);
  Grid grid({"mode", "medium", "launch", "samples/s", "first epoch", "later epochs", "total", full,
             "published", "from cache", "spread", "accel. busy", "cost", "cold"});
  for (const auto& row : table.rows) {
    if (row.uri == spec.uri && row.figures) grid.add(cells(row, table.spec.partial_reads));
  }
  out += grid.line(0);
  std::size_t number = 1;
  for (const auto& row : table.rows) {
    if (row.uri != spec.uri) continue;
    if (row.figures) {
      out += grid.line(number++);
    } else {
      const auto* status = row.status == Status::failed ? "FAILED" : "not run";
      out += wrapped(fmt::format("  {:<8}", row.mode), 10, fmt::format("{}: {}", status, row.why));
    }
  }
  return out;
}

std::string advice_text(const Recommendation& advice, bool formats) {
  std::string out = "\n";
  if (advice.mode) {
    out += fmt::format("Recommended: {}{}{}{}\n", *advice.mode,
                       advice.partial_reads ? " in parts (--partial-reads)" : "",
                       formats ? " on " + advice.format : "",
                       advice.runner_up ? fmt::format("; runner-up: {}", *advice.runner_up) : "");
  }
  for (const auto& sentence : advice.because) out += wrapped("  - ", 4, sentence);
  return out;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  auto text = fmt::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string to_text(const Comparison& comparison) {
  std::string out;
  for (const auto& table : comparison.tables) {
    if (!table.spec.name.empty()) {
      out += fmt::format("{}== {} ==\n", out.empty() ? "" : "\n", table.spec.name);
    }
    for (std::size_t set = 0; set < table.sets.size(); ++set) out += set_text(table, set);
    out += advice_text(table.recommendation, table.sets.size() > 1);
  }
  for (const auto& sentence : comparison.disagreements) {
    out += wrapped("\nTHE MODES DO NOT AGREE: ", 4, sentence);
  }
  return out;
}

}  // namespace headrace::advisor
