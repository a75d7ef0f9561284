// SPDX-License-Identifier: Apache-2.0
/// \file A VerifyReport as one HTML page that needs nothing beside it: charts are SVG, pictures
/// stand in it.
///
/// Pure functions, but for `read_shown`, which reads.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/records/dataset.h"
#include "headrace/records/verify/verify.h"
#include "headrace/storage/store.h"

namespace headrace {

/// What a page says beside the report.
struct PageContext {
  std::string uri;
  std::string format;
  std::vector<std::string> classes;
  std::vector<Notice> notices;
  std::map<std::uint64_t, Bytes> pictures;  ///< by sample: those that are shown
};

/// The pictures that a page shows: the bad ones too, as far as there are any bytes. What cannot be
/// read, or is large, is left out.
std::map<std::uint64_t, Bytes> read_shown(Store& store, const Dataset& set,
                                          const VerifyReport& report, const std::stop_token& stop);

std::string report_page(const VerifyReport& report, const PageContext& context);

}  // namespace headrace
