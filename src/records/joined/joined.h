// SPDX-License-Identifier: Apache-2.0
/// \file Several sets as one: the samples of the first, then those of the second, and so on, each
/// in its canonical order. Classes are joined by name.
///
/// Thread-safe once made. Example: job/compose.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/base/result.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// One of the sets. It must outlive what is joined of it.
struct SetToJoin {
  const Dataset* set = nullptr;
  std::string uri;  ///< as its user names it
};

/// Frames are read where each set's own are: see member_of.
///  * `invalid`   some of the sets have class names and others only numbers
Result<std::unique_ptr<Dataset>> join_sets(std::span<const SetToJoin> sets);

/// A sample in the set that it was joined from.
struct Member {
  std::size_t index = 0;  ///< of that set
  const Dataset& set;
  SampleId id{};
  std::string_view uri;  ///< of that set; empty: it is the set that was asked about
};
/// Of any set: one that was not joined is its own and only member.
Member member_of(const Dataset& set, SampleId id);
/// Samples of each member, in their order.
std::vector<std::uint64_t> member_sizes(const Dataset& set);

}  // namespace headrace
