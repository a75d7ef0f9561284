// SPDX-License-Identifier: Apache-2.0
/// \file A prefix of an S3 bucket as a Store: AWS, and what speaks as it does.
///
/// Thread-safe. Reads are ranged GETs, pinned by If-Match, and the ETag of every answer is
/// compared too, since some servers ignore If-Match. What may pass (503, resets, short bodies) is
/// sent again with full jitter; the rest is an error that names object, cause and remedy.
/// Not usable in a process that was forked after it was opened: every call says so.
///
/// README.md beside this file tells the protocol; example: open_store.h.
#pragma once

#include <memory>
#include <string>

#include "headrace/base/context.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/store.h"

namespace headrace {

/// `prefix` is put before every key as it is: "train/" for a folder. Asks nothing of the server;
/// keys that must be asked for (STS, a container, an instance) are, within seconds.
///  * invalid: a bucket name, endpoint or profile that cannot be
///  * denied, unavailable: no keys to be had
Result<std::unique_ptr<Store>> make_s3_store(const std::string& bucket, const std::string& prefix,
                                             const Context& context, const S3Options& options = {},
                                             const std::stop_token& stop = {});

struct OpenedS3 {
  std::unique_ptr<Store> store;
  std::string only_key;  ///< of the single object that was named; empty: a folder was
};

/// A path that may name an object or a folder, which one HEAD finds out, unless it is empty or ends
/// in '/'. An object of size 0 is taken for a folder's marker. Where HEAD is not allowed, the path
/// is a folder, and what is wrong shows when it is listed.
Result<OpenedS3> find_s3_store(const std::string& bucket, const std::string& path,
                               const Context& context, const S3Options& options,
                               const std::stop_token& stop);

}  // namespace headrace
