// SPDX-License-Identifier: Apache-2.0
/// \file Damage as a value: which bytes could not be read as records, and why.
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

struct Damage {
  std::uint64_t begin = 0;  ///< offsets in the container
  std::uint64_t end = 0;
  std::string why;

  bool operator==(const Damage&) const = default;
};

struct PlacedDamage {
  std::string key;  ///< of the container
  Damage damage;

  bool operator==(const PlacedDamage&) const = default;
};

}  // namespace headrace
