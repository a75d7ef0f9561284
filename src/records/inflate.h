// SPDX-License-Identifier: Apache-2.0
/// \file GZIP and ZLIB files as the stream that they hold.
///
/// Not thread-safe: one source, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/seek_table.h"

struct z_stream_s;  // zlib's

namespace headrace {

/// By the first bytes: what may be a compressed stream. Two bytes tell little: look inside.
Compression compression_of(ByteSpan first_bytes);

/// What can be inflated of a stream's first bytes, at most `most` bytes.
std::vector<std::byte> inflate_head(ByteSpan first_bytes, Compression compression,
                                    std::size_t most);

/// The stream inside a compressed source. Members of GZIP that stand back to back are one stream.
/// What ends it too early is no error: the stream ends there, and `failure` says why, so that what
/// came before is not lost.
class InflateSource final : public ByteSource {
 public:
  /// Both must outlive it. `table` is filled as the stream is read; may be null.
  InflateSource(ByteSource& compressed, Compression compression, SeekTableBuilder* table = nullptr);
  ~InflateSource() override;

  Result<Bytes> next() override;

  /// Why the stream is not whole; empty as long as nothing is wrong.
  const std::string& failure() const { return failure_; }
  /// How much was given.
  std::uint64_t out() const { return out_; }

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  Result<bool> refill();
  void step(std::uint64_t given_before, std::size_t room);
  void end_member();
  void fail(std::string why);
  std::uint64_t in() const;

  ByteSource& compressed_;
  const Compression compression_;
  SeekTableBuilder* const table_;
  const std::unique_ptr<z_stream_s, End> stream_;
  Bytes piece_;            ///< what stream_ reads from
  std::uint64_t in_ = 0;   ///< of the file, up to piece_'s end
  std::uint64_t out_ = 0;  ///< given
  bool member_ended_ = false;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace headrace
