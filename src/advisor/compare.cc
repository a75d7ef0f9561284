// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/compare.h"

#include <fmt/chrono.h>

#include <map>
#include <optional>

#include "headrace/advisor/process.h"
#include "headrace/advisor/proof.h"
#include "headrace/base/clock.h"
#include "headrace/base/uri.h"
#include "headrace/job/media_file.h"

namespace headrace::advisor {
namespace {

void price_row(Row& row, std::uint64_t set_bytes, const PriceBook& prices,
               const InstancePrice& instance) {
  if (!row.figures) return;
  const auto parsed = parse_uri(row.uri);
  Usage usage;
  usage.mode = row.mode;
  usage.medium = row.medium;
  usage.in_bucket = parsed.ok() && parsed->scheme == Scheme::s3;
  usage.seconds = row.figures->total_seconds;
  usage.requests = row.figures->requests;
  usage.bytes_read = row.figures->bytes_origin;
  usage.set_bytes = set_bytes;
  row.figures->cost_usd = prices.cost(instance, usage).total();
}

/// The inputs of a row that data/media.yaml marks as fitted.
Result<void> mark_fitted(Row& row, const MediaFile& media) {
  if (row.medium == "none") return {};
  HEADRACE_TRY(const auto* entry, media.find(row.medium));
  for (const auto& figure : entry->figures) {
    if (figure.fitted) row.fitted.push_back(fmt::format("{} of {}", figure.name, row.medium));
  }
  return {};
}

Result<void> check_media(const CompareSpec& spec, const MediaFile& media) {
  for (const auto& table : spec.tables) {
    if (!table.keep_medium.empty()) HEADRACE_TRY(media.find(table.keep_medium));
    for (const auto& [mode, names] : table.media) {
      for (const auto& name : names) {
        if (name != "none") HEADRACE_TRY(media.find(name));
      }
    }
  }
  return {};
}

/// The files that the spec's names stand in, in which they do.
struct Known {
  MediaFile media;
  PriceBook prices;
  std::optional<InstancePrice> instance;
};

Result<Known> look_up(const CompareSpec& spec) {
  Known known;
  HEADRACE_TRY(known.media, load_media());
  HEADRACE_TRY(check_media(spec, known.media));
  HEADRACE_TRY(known.prices, PriceBook::load(spec.prices));
  if (!spec.instance.empty()) {
    HEADRACE_TRY(known.instance, known.prices.instance(spec.instance));
  }
  return known;
}

}  // namespace

Result<void> check_names(const CompareSpec& spec) {
  HEADRACE_TRY(look_up(spec));
  return {};
}

Result<void> prepare(const CompareSpec& spec, const std::stop_token& stop) {
  if (spec.prepare.empty()) return {};
  const auto& program = spec.prepare.front();
  auto ended = run_process(spec.prepare, stop);
  if (!ended) return std::move(ended).error().at(program);
  if (ended->code == 0) return {};
  return Error(Code::invalid,
               fmt::format("ended with code {}: {}", ended->code, last_words(ended->err)),
               "the experiment's `prepare` program is started in the current folder")
      .at(program);
}

namespace {

/// Of all sets that are joined to one.
SetInfo joined_info(const SetSpec& set, const std::map<std::string, SetInfo>& infos) {
  SetInfo all = infos.at(set.uri);
  for (const auto& uri : set.with) {
    const SetInfo& info = infos.at(uri);
    if (info.format != all.format) all.format = "joined";
    all.samples += info.samples;
    all.bytes += info.bytes;
  }
  return all;
}

/// A copy that has another number of samples is none: said before anything is read for it. One that
/// cannot be opened is a row that fails.
Result<void> check_copies(const SetSpec& set, const OpenOptions& open,
                          const std::map<std::string, SetInfo>& infos,
                          const CompareOptions& options, const std::stop_token& stop) {
  const auto uris = set.uris();
  const auto copies = set.locals();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto info = options.look(copies[i], open, stop);
    if (!info && info.error().code() == Code::cancelled) return info.error();
    const auto samples = infos.at(uris[i]).samples;
    if (!info || info->samples == samples) continue;
    return Error(Code::invalid,
                 fmt::format("the sets differ: the copy has {} samples, {} has {}", info->samples,
                             uris[i], samples),
                 "--local takes a copy of the set: make it again, with headrace fetch")
        .at(copies[i]);
  }
  return {};
}

std::uint64_t bytes_of(const Row& row, const Table& table) {
  for (std::size_t i = 0; i < table.sets.size(); ++i) {
    if (table.spec.sets[i].uri == row.uri) return table.sets[i].bytes;
  }
  return 0;
}

}  // namespace

Result<Comparison> compare(const CompareSpec& spec, const CompareOptions& options,
                           const std::stop_token& stop) {
  // Everything that can be wrong with the question is found before the first run.
  HEADRACE_TRY(const auto known, look_up(spec));
  HEADRACE_TRY(const auto book, ManageabilityBook::load());
  Comparison found;
  found.instance = known.instance;
  std::map<std::string, SetInfo> infos;
  for (const auto& table : spec.tables) {
    for (const auto& set : table.sets) {
      for (const auto& uri : set.uris()) {
        if (infos.contains(uri)) continue;
        HEADRACE_TRY(infos[uri], options.look(uri, table.open, stop));
      }
      HEADRACE_TRY(check_copies(set, table.open, infos, options, stop));
    }
  }

  auto runner = options.runner;
  runner.server_data = spec.server_data;
  found.version = options.version;
  found.when = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(real_clock().wall_seconds()));
  found.machine = this_machine();
  for (const auto& asked : spec.tables) {
    Table table;
    table.spec = asked;
    for (const auto& set : asked.sets) table.sets.push_back(joined_info(set, infos));
    HEADRACE_TRY(table.rows, run_table(asked, table.sets, runner, stop));
    for (auto& row : table.rows) {
      HEADRACE_TRY(mark_fitted(row, known.media));
      if (found.instance) price_row(row, bytes_of(row, table), known.prices, *found.instance);
      table.facts.push_back(book.facts(row.mode, row.format));
    }
    table.recommendation = recommend(table.rows, book);
    HEADRACE_TRY(prove_copies(table, runner, found.disagreements, stop));
    for (auto& sentence : disagreements(table.rows)) found.disagreements.push_back(sentence);
    found.tables.push_back(std::move(table));
  }
  return found;
}

}  // namespace headrace::advisor
