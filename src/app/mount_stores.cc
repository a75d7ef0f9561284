// SPDX-License-Identifier: Apache-2.0
#include "mount_stores.h"

#include <utility>

#include "headrace/job/media_file.h"
#include "headrace/records/inside/names.h"
#include "headrace/records/inside/set_store.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/open_store.h"
#include "work_line.h"

namespace headrace::app {

MountStores::~MountStores() {
  inside_.reset();
  set_.reset();
  while (!stores_.empty()) stores_.pop_back();
}

Result<MountStores> MountStores::open(const MountSource& source, const Uri& uri,
                                      const Context& context, const std::stop_token& stop) {
  MountStores made;
  auto& stores = made.stores_;
  HEADRACE_TRY(auto origin, open_store(uri, context, {.stop = stop}));
  stores.push_back(std::move(origin));
  if (!source.medium.empty()) {
    HEADRACE_TRY(auto slow, shaped_as(source.medium, source.scale, *stores.back(), context, 0));
    stores.push_back(std::move(slow));
  }
  SideStore* side_store = nullptr;
  if (source.keep || !source.keep_dir.empty()) {
    std::string folder = source.keep_dir;
    if (folder.empty()) {
      HEADRACE_TRY(folder, default_keep_dir());
    }
    HEADRACE_TRY(auto cache,
                 make_keep_store(*stores.back(), {.dir = folder, .limit_bytes = source.keep_bytes},
                                 context));
    side_store = cache.get();
    stores.push_back(std::move(cache));
  }
  if (!source.inside) return made;
  OpenOptions open = source.open;
  open.side_store = side_store;
  open.stop = stop;
  HEADRACE_TRY(made.set_, open_dataset(*stores.back(), context, open));
  WorkProgress progress;
  const WorkLine line("naming", progress, made.set_->size());
  HEADRACE_TRY(auto names, name_samples(*stores.back(), *made.set_,
                                        {.skip_bad = source.on_bad == "skip",
                                         .side_store = side_store,
                                         .reading = {},
                                         .progress = &progress,
                                         .stop = stop},
                                        context));
  made.inside_ = make_set_store(*stores.back(), *made.set_, std::move(names));
  return made;
}

}  // namespace headrace::app
