// SPDX-License-Identifier: Apache-2.0
/// \file Things worth telling the user once: the library never prints, it leaves a notice.
///
/// Thread-safe. Notices of one kind are counted, and only the first text is kept, so that a
/// million damaged pictures do not flood a log.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/base/mutex.h"

namespace headrace {

struct Notice {
  std::string kind;  ///< stable, short: "weak-pin", "jpeg-warning"
  std::string text;  ///< of the first one
  std::uint64_t count = 0;
};

class Notices {
 public:
  void add(const std::string& kind, const std::string& text) {
    const MutexLock lock(mutex_);
    auto& notice = by_kind_[kind];
    if (notice.count++ == 0) {
      notice.kind = kind;
      notice.text = text;
    }
  }
  std::vector<Notice> all() const {
    const MutexLock lock(mutex_);
    std::vector<Notice> copy;
    for (const auto& [kind, notice] : by_kind_) copy.push_back(notice);
    return copy;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, Notice> by_kind_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
