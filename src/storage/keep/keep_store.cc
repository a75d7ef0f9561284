// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/keep_store.h"

#include <algorithm>

#include "headrace/base/cache_folder.h"
#include "headrace/storage/keep/keep_engine.h"
#include "headrace/storage/keep/late_disk.h"
#include "headrace/storage/keep/memory_left.h"
#include "headrace/storage/keep/shaped_disk.h"

namespace headrace {

Result<std::unique_ptr<KeepStore>> make_keep_store(Store& base, const KeepOptions& options,
                                                   const Context& context) {
  HEADRACE_TRY(auto local,
               keep::open_local_disk_within(options.dir, options.patience, options.stop));
  KeepOptions chosen = options;
  if (local.in_memory) {
    // A volume in memory calls all memory free; half of what is left leaves room for the job.
    if (chosen.limit_bytes == 0)
      chosen.limit_bytes = std::max<std::uint64_t>(keep::memory_left() / 2, 1);
    context.notices->add(
        "keep-in-memory",
        options.dir + " lies in memory: what is kept there is taken from the job's");
  }
  if (options.medium)
    local.disk = keep::shape_disk(std::move(local.disk), *options.medium, *context.clock);
  return keep::make_keep_store_on(std::move(local.disk), base, chosen, context);
}

Result<std::string> default_keep_dir() {
  if (auto dir = cache_folder("HEADRACE_KEEP_DIR", "headrace"); !dir.empty()) return dir;
  return Error(Code::invalid, "no place for the cache: neither HEADRACE_KEEP_DIR nor HOME is set",
               "give --keep-dir");
}

}  // namespace headrace
