// SPDX-License-Identifier: Apache-2.0
/// \file From what the user wrote to the Store that holds it: the one place that knows them all.
///
/// Functions; thread-safe. Example:
///
///     HEADRACE_TRY(const Uri uri, parse_uri("s3://bucket/train"));
///     HEADRACE_TRY(auto store, open_store(uri, context, {}));
///     HEADRACE_TRY(auto data, open_dataset(*store, context, {}));
///
/// Writing one object: `split_object` gives the folder to open (as Root::folder) and the key.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "headrace/base/context.h"
#include "headrace/base/result.h"
#include "headrace/base/uri.h"
#include "headrace/storage/nfs/nfs_store.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/store.h"

namespace headrace {

struct StoreOptions {
  /// What the URI names.
  enum class Root {
    find_out,  ///< a folder or a single object: asked of the place itself
    folder,    ///< a folder, which need not exist yet: for writing
  };
  Root root = Root::find_out;
  unsigned local_threads = 16;  ///< that read a local folder
  S3Options s3;
  NfsOptions nfs;
  std::stop_token stop;  ///< while finding out
};

/// The store whose root is `uri`. If `uri` names a single object (a file; an S3 key that exists and
/// is not empty; never with a '/' at its end), the root is the folder it lies in and `list` gives
/// only that object, while `head` and `read` reach what lies beside it, such as its index.
///  * not_found: a local path that does not exist. S3 is not asked whether a prefix holds anything.
///  * invalid: a scheme that names no store.
Result<std::unique_ptr<Store>> open_store(const Uri& uri, const Context& context,
                                          const StoreOptions& options = {});

/// "s3://b/dir/x.rec" → {"s3://b/dir/", "x.rec"}. `invalid` if there is no name at the end.
Result<std::pair<Uri, std::string>> split_object(const Uri& uri);

}  // namespace headrace
