// SPDX-License-Identifier: Apache-2.0
/// \file What a comparison found: tables of rows, a choice for each, and what it was made on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/advisor/manageability.h"
#include "headrace/advisor/price.h"
#include "headrace/advisor/recommend.h"
#include "headrace/advisor/row.h"
#include "headrace/advisor/spec.h"

namespace headrace::advisor {

/// One form of the set.
struct SetInfo {
  std::string format;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  /// Of the source itself, where nothing but a copy was read by the rows, so that it was read for
  /// this alone (proof.h).
  std::optional<std::string> source_set_digest = std::nullopt;
};

struct Machine {
  std::string cpu;
  unsigned processors = 0;  ///< that this process may use
  std::uint64_t memory_bytes = 0;
  std::string system;  ///< kernel name and release
};

struct Table {
  TableSpec spec;
  std::vector<SetInfo> sets;  ///< as spec.sets
  std::vector<Row> rows;
  std::vector<Manageability> facts;  ///< of each row
  Recommendation recommendation;
};

struct Comparison {
  std::string version;  ///< of headrace
  std::string when;     ///< "2026-11-30 05:01 UTC"
  Machine machine;
  std::optional<InstancePrice> instance;
  std::vector<Table> tables;  ///< never empty; the last one's recommendation is the comparison's
  std::vector<std::string> disagreements;  ///< what the digests contradict; empty: all agree
};

/// Of this machine, as far as /proc tells.
Machine this_machine();

/// Every mode must have delivered the same samples: one set digest in the table, and one order
/// digest for each epoch of a URI. A sentence for each contradiction.
std::vector<std::string> disagreements(const std::vector<Row>& rows);

}  // namespace headrace::advisor
