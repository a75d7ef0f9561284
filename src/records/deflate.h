// SPDX-License-Identifier: Apache-2.0
/// \file Bytes on their way into a GZIP or ZLIB file. The same bytes give the same file.
///
/// Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/seek_table.h"

struct z_stream_s;  // zlib's

namespace headrace {

class Deflater {
 public:
  explicit Deflater(Compression compression);

  /// Appends to `out` what can be said by now of all that came; with `last` the rest, too, after
  /// which nothing more may come.
  ///  * `exhausted`   no memory
  Result<void> append(ByteSpan bytes, bool last, std::vector<std::byte>& out);

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  const std::unique_ptr<z_stream_s, End> stream_;
};

}  // namespace headrace
