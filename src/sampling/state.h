// SPDX-License-Identifier: Apache-2.0
/// \file Where a job stands, as a short text that a person can read and a later job resume from.
///
/// A value. `docs/SEMANTICS.md`, "State", lists the keys; unknown keys of the same version are
/// kept out of the way, another version is refused. The partial ledger and digests travel with
/// the position, so that an epoch that was broken off and resumed ends with the digests of an
/// unbroken one. Under several ranks each rank's partial sums are in its own state; on resume
/// with another rank count the sums of all old states are added and given to one rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/sampling/order.h"

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
  std::uint64_t samples = 0;
  std::uint64_t global_batch = 0;
  std::string tail;         ///< "keep", "drop", "pad"
  std::string fingerprint;  ///< hex, of the data set
  std::string transform;    ///< the transform's own text, so that resume uses the same pixels
  Ledger ledger;            ///< of this rank, this epoch, so far
  Hash128 order_digest;
  Hash128 set_digest;

  std::string to_text() const;
  static Result<State> parse(std::string_view text);
};

}  // namespace headrace
