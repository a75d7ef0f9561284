// SPDX-License-Identifier: Apache-2.0
/// \file Where a job stands, as a short text that a person can read and a later job resume from.
///
/// A value. `docs/SEMANTICS.md`, "State", lists the keys; unknown keys of the same version are
/// kept out of the way, another version is refused. The partial ledger and digests travel with
/// the position, so that an epoch that was broken off and resumed ends with the digests of an
/// unbroken one. Under several ranks each rank's partial sums are in its own state; on resume
/// with another rank count the sums of all old states are added (`merge`) and given to rank 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/shuffle.h"

namespace headrace {

/// asked = delivered + substituted + skipped + dropped;
/// slots = delivered + substituted + padded; quarantined counts lines and is in no sum.
struct Ledger {
  std::uint64_t asked = 0;
  std::uint64_t delivered = 0;
  std::uint64_t substituted = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dropped = 0;
  std::uint64_t padded = 0;
  std::uint64_t quarantined = 0;

  Ledger& operator+=(const Ledger& other);
  bool operator==(const Ledger&) const = default;
};

struct State {
  std::uint64_t seed = 0;
  Shuffle shuffle = Shuffle::global;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  ///< global positions consumed in this epoch, over all ranks
  std::uint64_t samples = 0;   ///< of the data set
  std::uint64_t global_batch = 0;
  std::uint64_t rank = 0;   ///< whose sums these are: of this rank of `world`;
  std::uint64_t world = 1;  ///< rank 0 of 1 holds the sums of the whole job
  std::string tail;         ///< "keep", "drop", "pad", "wrap"
  std::string fingerprint;  ///< hex, of the data set
  std::string selection;    ///< which samples an epoch has (selection.h); empty: each once
  std::string transform;    ///< the transform's own text, so that resume uses the same pixels
  Ledger ledger;            ///< of this rank, this epoch, so far
  Hash128 order_digest;
  Hash128 set_digest;
  std::uint64_t in_parts = 0;  ///< samples in the digests that were read in parts

  std::string to_text() const;
  static Result<State> parse(std::string_view text);
  bool operator==(const State&) const = default;
};

/// The states of all ranks of one job at one moment become the state of the whole job.
/// `invalid` if they are of different jobs or moments, or a rank is missing or given twice.
Result<State> merge(std::span<const State> states);

/// What one rank of a job goes on from: its own state as it is; of a whole job's state rank 0
/// gets the sums and the others none, so that over the new ranks nothing counts twice.
/// `invalid` for another rank's state.
Result<State> state_for_rank(const State& state, std::uint64_t rank, std::uint64_t world);

}  // namespace headrace
