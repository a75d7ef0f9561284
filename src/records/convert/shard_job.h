// SPDX-License-Identifier: Apache-2.0
/// \file The work of one shard: read ahead, parse, change, write; in order.
///
/// Functions; several may run side by side.
#pragma once

#include "headrace/base/context.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/convert/plan.h"
#include "headrace/records/convert/receipts.h"
#include "headrace/records/dataset.h"
#include "headrace/records/shard_writer.h"
#include "headrace/storage/store.h"

namespace headrace::converting {

struct ShardJob {
  Store& source;
  const Dataset& set;
  const ConvertOptions& options;
  const Context& context;
  const Plan& plan;
  const WriterKind& kind;
  const SetPlace& place;  ///< of the set that the shard belongs to
  PlannedShard shard;
  unsigned threads = 1;      ///< for changes of pictures
  ReadAheadOptions reading;  ///< this shard's part
};

Result<Receipt> write_shard(const ShardJob& job, const std::stop_token& stop);

}  // namespace headrace::converting
