// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "headrace/records/zlib_call.h"

namespace headrace {

void Deflater::End::operator()(z_stream_s* stream) const {
  ::deflateEnd(stream);
  delete stream;  // NOLINT(cppcoreguidelines-owning-memory): this is its owner's deleter
}

Deflater::Deflater(Compression compression) : stream_(new z_stream{}) {
  constexpr int kMemoryLevel = 8;  // zlib's own default
  // Fails for want of memory only, and then so does `append`.
  ::deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                 zlib_call::window_bits(compression), kMemoryLevel, Z_DEFAULT_STRATEGY);
}

Result<void> Deflater::append(ByteSpan bytes, bool last, std::vector<std::byte>& out) {
  constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max();
  std::array<std::byte, 65536> room;  // NOLINT(*-member-init): written before it is read
  do {
    const ByteSpan now = bytes.first(std::min(bytes.size(), kMostAtOnce));
    bytes = bytes.subspan(now.size());
    zlib_call::set_input(*stream_, now);
    do {
      zlib_call::set_output(*stream_, room);
      const bool ends = last && bytes.empty();
      if (::deflate(stream_.get(), ends ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
        return Error(Code::exhausted, "no memory to compress");
      out.insert(out.end(), room.begin(), room.end() - stream_->avail_out);
    } while (stream_->avail_out == 0);
  } while (!bytes.empty());
  return {};
}

}  // namespace headrace
