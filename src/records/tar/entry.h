// SPDX-License-Identifier: Apache-2.0
/// \file One entry of a tar: a file, link or folder, with the headers before it that belong to it.
///
/// Pure functions: what is found depends on the bytes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/records/byte_source.h"
#include "headrace/records/tar/header.h"
#include "headrace/records/tar/sparse.h"

namespace headrace::tar {

struct Entry {
  enum class Kind {
    entry,   ///< all of it is there
    damage,  ///< [begin, end) is none, because of `why`
    end,     ///< nothing but zeros follows
  };
  Kind kind = Kind::end;
  std::uint64_t begin = 0;  ///< of its first header
  std::uint64_t end = 0;    ///< behind its padding; of damage, where to look for the next header
  std::string why;

  std::string name;  ///< the one that counts: of pax, of GNU's long name, else the header's
  Type type = Type::regular;
  std::uint64_t data = 0;    ///< offset of what is stored
  std::uint64_t stored = 0;  ///< bytes
  std::optional<SparseMap> sparse;

  bool is_link() const { return type == Type::hard_link || type == Type::symbolic_link; }
  bool is_file() const { return type == Type::regular || type == Type::gnu_sparse; }
};

/// The entry at `begin` or behind the zeros that stand there, which are dropped: after its end an
/// archive may go on, if it was joined of several. A single block of zeros among entries is damage.
///
/// Only headers are pulled, not the data, where the source knows its end.
Result<Entry> read_entry(Window& window, std::uint64_t begin);

/// The first block at or after `from` that is a header, or the source's end. Drops what it passes.
Result<std::uint64_t> find_head(Window& window, std::uint64_t from);

}  // namespace headrace::tar
