// SPDX-License-Identifier: Apache-2.0
/// \file `Store::list` over keys that are in memory, sorted by their bytes and found by number: for
/// stores that know all of their objects.
///
/// A function template; pure but for `sink`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "headrace/storage/store.h"

namespace headrace {

/// `Keys` has size(), key(i), and lower_bound(key): the first i whose key is not less.
/// `info(i)` is what is listed of it. A folder is one step, whatever it holds.
template <class Keys, class Info>
Result<void> list_sorted(const Keys& keys, const Info& info, const ListRequest& request,
                         const std::stop_token& stop,
                         const std::function<Result<bool>(ListPage&&)>& sink) {
  constexpr std::size_t kPage = 1000;
  ListPage page;
  const std::string& prefix = request.prefix;
  std::uint64_t at = keys.lower_bound(std::max(prefix, request.start_after));
  if (!request.start_after.empty() && at < keys.size() && keys.key(at) == request.start_after) ++at;
  while (at < keys.size()) {
    const auto key = keys.key(at);  // a string, or a view of one that stays
    if (!key.starts_with(prefix)) break;
    const auto slash = request.by_folder ? key.find('/', prefix.size()) : std::string_view::npos;
    if (slash != std::string_view::npos) {
      std::string after(key.substr(0, slash + 1));
      page.folders.push_back(after);
      ++after.back();  // '0' follows '/': no key before that lies behind the folder
      at = std::max(at + 1, keys.lower_bound(after));  // on, whatever damaged keys say
    } else {
      page.objects.push_back(info(at++));
    }
    if (page.objects.size() + page.folders.size() < kPage) continue;
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped while listing");
    HEADRACE_TRY(const bool more, sink(std::exchange(page, {})));
    if (!more) return {};
  }
  HEADRACE_TRY(sink(std::move(page)));
  return {};
}

}  // namespace headrace
