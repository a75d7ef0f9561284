// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace headrace::advisor {
namespace {

/// Mode direct's row of a set, if it ran, and no row ran that reads the set itself.
const Row* unproven(const Table& table, const SetSpec& set) {
  const Row* copy = nullptr;
  for (const auto& row : table.rows) {
    if (row.status != Status::ok || row.uri != set.uri) continue;
    if (row.mode != "direct") return nullptr;
    copy = &row;
  }
  return copy;
}

}  // namespace

Result<void> prove_copies(Table& table, const RunnerOptions& options,
                          std::vector<std::string>& found, const std::stop_token& stop) {
  for (std::size_t i = 0; i < table.spec.sets.size(); ++i) {
    const auto& set = table.spec.sets[i];
    const Row* const copy = set.local.empty() ? nullptr : unproven(table, set);
    if (copy == nullptr) continue;
    if (options.on_run) {
      options.on_run({.label = fmt::format("{} itself, to prove its copy", set.uri),
                      .repeats = 1,
                      .done = table.rows.size(),
                      .all = table.rows.size() + 1});
    }
    const auto source = read_source(table.spec, set, options, stop);
    const auto places = fmt::format("{}", fmt::join(set.locals(), " + "));
    if (!source) {
      if (source.error().code() == Code::cancelled) return source.error();
      found.push_back(fmt::format("whether {} is a copy of {} is not known: {}", places, set.uri,
                                  source.error().to_string()));
      continue;
    }
    const auto& digest = source->epochs.front().set_digest;
    table.sets[i].source_set_digest = digest;
    if (digest == copy->figures->set_digest) continue;
    found.push_back(
        fmt::format("the sets differ: {}, which direct read, has the set digest {}, {} has {}",
                    places, copy->figures->set_digest, set.uri, digest));
  }
  return {};
}

}  // namespace headrace::advisor
