// SPDX-License-Identifier: Apache-2.0
/// \file One row of a comparison: a mode on a set, and what its repeats measured. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/advisor/measurement.h"

namespace headrace::advisor {

enum class Status { ok, failed, not_run };
/// verified: no page of the files lay in memory when any repeat began, as mincore said;
/// warm: some did; unverified: the files, or some of them, could not be looked at.
enum class Cold { verified, unverified, warm };

std::string_view to_string(Status status);
std::string_view to_string(Cold cold);
/// The worse of two: warm, then unverified.
Cold worse(Cold a, Cold b);

/// Medians over the repeats; seconds.
struct Figures {
  double launch_seconds = 0;
  double samples_per_second = 0;  ///< over all epochs
  double first_epoch_seconds = 0;
  std::optional<double> later_epoch_seconds;  ///< mean of the later ones; nothing if there are none
  double total_seconds = 0;
  std::optional<double> spread;  ///< of total_seconds; nothing for one repeat
  std::optional<double> accelerator_busy;
  std::optional<double> cost_usd;
  std::uint64_t bytes_origin = 0;  ///< of a whole run
  std::uint64_t bytes_cache = 0;   ///< the same, from the node cache
  std::uint64_t requests = 0;
  Cold cold = Cold::unverified;
  std::vector<std::string> order_digests;  ///< of each epoch
  std::string set_digest;
  std::uint64_t samples = 0;  ///< delivered in one epoch
  std::uint64_t epochs = 0;
  std::vector<double> totals;  ///< total_seconds of each repeat, in the order they ran
};

struct Row {
  std::string mode;
  std::string medium = "none";       ///< what the store behaves like; none: as it is
  std::string keep_medium = "none";  ///< mode keep: the same of its cache's disk
  bool partial_reads = false;        ///< reads of a JPEG only what its crop needs
  std::string format;                ///< of the set: folder, recordio, …
  std::string uri;
  unsigned scale = 1;               ///< the real job is as many times as large as the one that ran
  std::vector<std::string> fitted;  ///< inputs set so that a published result comes out: such a row
                                    ///< illustrates, it predicts nothing
  std::optional<double> published_seconds;  ///< of the real job, as somebody published it
  Status status = Status::not_run;
  std::string why;                 ///< one sentence unless ok
  std::optional<Figures> figures;  ///< there if and only if ok

  /// "keep", or "keep on recordio" where a table holds several formats; with its medium "direct
  /// over ebs-gp3"; "keep in parts" where only parts are read.
  std::string label(bool with_format, bool with_medium = false) const;
  /// Of the real job: the run's total times the scale, its start included, which does not grow
  /// so: at most launch_seconds × (scale − 1) too much. Nothing if it is the real job.
  std::optional<double> scaled_total_seconds() const;
};

/// What the repeats of one row say together. The first failed sentence of `failures` makes the
/// row failed, as do digests that differ between repeats.
/// REQUIRES: runs and failures are not both empty
void conclude(Row& row, const std::vector<Measurement>& runs, Cold cold,
              const std::vector<std::string>& failures);

}  // namespace headrace::advisor
