// SPDX-License-Identifier: Apache-2.0
/// \file One step through a container: a whole record, damage, or the end. And what a format must
/// be able to do so that a container without an index can be scanned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/base/digest.h"
#include "headrace/records/byte_source.h"

namespace headrace {

struct Step {
  enum class Kind {
    frame,   ///< [begin, end) is a whole record
    damage,  ///< [begin, end) is none, because of `why`; a head or the source's end follows
    end,     ///< the source ended where a record could begin
  };
  Kind kind = Kind::end;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string why;
  bool unpadded = false;   ///< the last record, whose padding is missing
  std::uint64_t next = 0;  ///< where to go on, if not at `end`: what is between is in no record
  /// Of its name, where a container may hold a name once only and the format has no other guard.
  std::optional<Hash128> name;
};

/// Plain functions. What they find depends on the bytes only, not on the pieces in which they
/// come: a walk that begins at the head of a record finds the same frames wherever it began.
struct Framing {
  /// The frame or damage that begins at `begin`. With `keep` the bytes of a frame are in the
  /// window afterwards, else they are dropped as they come.
  Result<Step> (*step)(Window& window, std::uint64_t begin, bool keep);
  /// The first place at or after `from` that looks like a record's head; the source's end if there
  /// is none. Drops what it passes.
  Result<std::uint64_t> (*find_head)(Window& window, std::uint64_t from);
};

}  // namespace headrace
