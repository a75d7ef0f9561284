// SPDX-License-Identifier: Apache-2.0
/// \file What a Store may have besides: lists that begin in the middle.
///
/// As thread-safe as the store. Then one long list can be taken in pieces, side by side: for what
/// makes the pieces whole, and an example, see records/split_listing.h.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "headrace/storage/store.h"

namespace headrace {

class NearLister {
 public:
  NearLister() = default;
  NearLister(const NearLister&) = delete;
  NearLister& operator=(const NearLister&) = delete;
  virtual ~NearLister() = default;

  /// Whether a list that begins in the middle costs no more than its own pages.
  virtual bool lists_near() const = 0;

  /// As Store::list of `prefix`, from about `near` on in the server's own order, whatever that is.
  /// A hint: it may begin elsewhere. Empty: from the beginning.
  ///  * invalid: the server refuses to begin there
  virtual Result<void> list_near(const std::string& prefix, const std::string& near,
                                 const std::stop_token& stop,
                                 const std::function<Result<bool>(ListPage&&)>& sink) = 0;
};

/// Null if the store has no such lists.
inline NearLister* near_lister(Store& store) {
  auto* const lister = dynamic_cast<NearLister*>(&store);
  return lister != nullptr && lister->lists_near() ? lister : nullptr;
}

}  // namespace headrace
