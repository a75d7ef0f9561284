// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/unpack/scratch_content.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "headrace/storage/block.h"
#include "headrace/storage/ranges.h"

namespace headrace {

Result<std::unique_ptr<ScratchContent>> ScratchContent::make(ByteSource& source, ScratchFile& file,
                                                             const std::function<bool()>& wanted) {
  std::unique_ptr<ScratchContent> content(new ScratchContent(file));
  HEADRACE_TRY(content->fill(source, wanted));
  return content;
}

Result<void> ScratchContent::fill(ByteSource& source, const std::function<bool()>& wanted) {
  Buffer piece(kPiece);
  std::size_t filled = 0;
  while (true) {
    if (!wanted()) return Error(Code::cancelled, "stopped");
    auto got = source.next();
    if (!got && got.error().code() == Code::corrupt) {
      inside_.failure = got.error().cause();
      break;
    }
    HEADRACE_TRY(const Bytes bytes, std::move(got));
    if (bytes.empty()) break;
    ByteSpan rest = bytes.span();
    while (!rest.empty()) {
      const std::size_t count = std::min(rest.size(), piece.size() - filled);
      std::ranges::copy(rest.first(count), piece.data() + filled);
      rest = rest.subspan(count);
      filled += count;
      if (filled < piece.size()) continue;
      HEADRACE_TRY(store(piece.span()));
      filled = 0;
    }
  }
  return store(piece.span().first(filled));
}

/// Chained, so that pieces in another order are another content.
Result<void> ScratchContent::store(ByteSpan piece) {
  const Hash128 own = hash_bytes(piece);
  const std::array<Hash128, 2> chain{inside_.hash, own};
  inside_.hash = hash_bytes(std::as_bytes(std::span(chain)));
  inside_.size += piece.size();
  HEADRACE_TRY(const std::uint64_t offset, file_.append(piece));
  pieces_.push_back({offset, own});
  return {};
}

Result<Bytes> ScratchContent::read(const ByteRange& asked) const {
  HEADRACE_TRY(const ByteRange range, resolve(asked, inside_.size));
  HEADRACE_TRY(Buffer into, allocate(range.length));
  std::span<std::byte> rest = into.span();
  std::uint64_t at = range.offset;
  while (!rest.empty()) {
    const std::uint64_t within = at % kPiece;
    const auto count = std::min<std::uint64_t>(rest.size(), kPiece - within);
    HEADRACE_TRY(file_.read(pieces_[at / kPiece].offset + within, rest.first(count)));
    rest = rest.subspan(count);
    at += count;
  }
  return std::move(into).freeze(range.length);
}

Result<bool> ScratchContent::is_intact(const ByteRange& asked) const {
  HEADRACE_TRY(const ByteRange range, resolve(asked, inside_.size));
  Buffer piece(kPiece);
  const std::uint64_t end = range.offset + range.length;
  for (std::uint64_t at = range.offset / kPiece * kPiece; at < end; at += kPiece) {
    const auto bytes = piece.span().first(std::min(kPiece, inside_.size - at));
    HEADRACE_TRY(file_.read(pieces_[at / kPiece].offset, bytes));
    if (hash_bytes(bytes) != pieces_[at / kPiece].hash) return false;
  }
  return true;
}

}  // namespace headrace
