// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/tar/pax.h"

namespace headrace::tar {
namespace {

// Longer than any path and all extended attributes of a file that is sane.
constexpr std::uint64_t kMaxExtension = 1U << 20U;

/// True if bytes up to `end` are there. They are not pulled if the source knows its end.
Result<bool> reaches(Window& window, std::uint64_t end) {
  if (const auto known = window.source_end()) return end <= *known;
  return window.cover(end);
}

/// What the headers before an entry say about it.
struct Extension {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
  std::optional<SparseMap> sparse;
};

class Reader {
 public:
  Reader(Window& window, std::uint64_t begin) : window_(window), begin_(begin), at_(begin) {}

  Result<Entry> read() {
    HEADRACE_TRY(auto found, pass_zeros());
    if (found) return *std::move(found);
    while (true) {
      HEADRACE_TRY(const bool there, window_.cover(at_ + kBlock));
      if (!there) return cut();
      const Bytes block = window_.slice(at_, kBlock);
      if (!is_header(block.span())) {
        return damaged(at_ == begin_ ? "no tar header: its checksum is wrong"
                                     : "an extended header without an entry");
      }
      auto header = parse_header(block.span());
      if (!header) return damaged(header.error().cause());
      at_ += kBlock;
      const bool extends = header->type == Type::gnu_long_name ||
                           header->type == Type::gnu_long_link || header->type == Type::pax ||
                           header->type == Type::pax_global;
      if (!extends) return entry(*std::move(header), block);
      HEADRACE_TRY(found, extend(*header));
      if (found) return *std::move(found);
    }
  }

 private:
  Entry damaged(std::string why) const {
    return Entry{.kind = Entry::Kind::damage,
                 .begin = begin_,
                 .end = begin_ + kBlock,
                 .why = std::move(why)};
  }

  Result<Entry> cut() {
    HEADRACE_TRY(const bool more, window_.cover(at_ + 1));
    if (at_ == begin_ && !more) return Entry{.kind = Entry::Kind::end, .begin = at_, .end = at_};
    return damaged(at_ == begin_ ? fmt::format("{} bytes after the last entry", window_.end() - at_)
                                 : "the end in the middle of an entry's headers");
  }

  /// Moves to the first block that is not zero. Something if the entry's fate is known by then.
  Result<std::optional<Entry>> pass_zeros() {
    std::uint64_t blocks = 0;
    while (true) {
      HEADRACE_TRY(const bool whole, window_.cover(at_ + kBlock));
      const std::uint64_t bytes = std::min(kBlock, window_.end() - std::min(at_, window_.end()));
      if (bytes == 0 || !is_zero(window_.slice(at_, bytes).span())) break;
      at_ += bytes;
      ++blocks;
      if (!whole) break;
      if (blocks > 2) window_.drop_before(at_);  // may be gigabytes
    }
    if (blocks == 0) return std::optional<Entry>();
    HEADRACE_TRY(const bool more, window_.cover(at_ + 1));
    if (!more) return std::optional(Entry{.kind = Entry::Kind::end, .begin = at_, .end = at_});
    if (blocks == 1) {
      return std::optional(Entry{.kind = Entry::Kind::damage,
                                 .begin = begin_,
                                 .end = at_,
                                 .why = "a block of zeros where a header should be"});
    }
    begin_ = at_;
    return std::optional<Entry>();
  }

  Result<std::optional<Entry>> extend(const Header& header) {
    if (header.size > kMaxExtension)
      return std::optional(damaged(fmt::format("an extended header of {} bytes", header.size)));
    const std::uint64_t end = at_ + padded(header.size);
    HEADRACE_TRY(const bool there, window_.cover(end));
    if (!there) return std::optional(damaged("the end in the middle of an extended header"));
    const Bytes content = window_.slice(at_, header.size);
    at_ = end;
    Result<void> taken;
    if (header.type == Type::gnu_long_name) {
      const std::string_view text = content.text();
      extension_.name = std::string(text.substr(0, text.find('\0')));
    } else if (header.type == Type::pax) {
      taken = take_pax(content.span());
    } else if (header.type == Type::pax_global) {
      taken = check_global(content.span());
    }
    if (taken) return std::optional<Entry>();
    return std::optional(damaged(taken.error().cause()));
  }

  Result<void> take_pax(ByteSpan content) {
    HEADRACE_TRY(const auto records, parse_pax(content));
    for (const auto& [key, value] : records) {
      if (key == "path") extension_.name = std::string(value);
      if (key == "size") {
        HEADRACE_TRY(extension_.size, parse_decimal(value));
      }
    }
    for (const auto& [key, value] : records)
      if (key == "GNU.sparse.name") extension_.name = std::string(value);
    HEADRACE_TRY(auto sparse, parse_pax_sparse(records));
    if (sparse) extension_.sparse = std::move(sparse);
    return {};
  }

  /// What it says holds for all entries after it, so that none could be read alone. Comments,
  /// owners and times are of no concern.
  static Result<void> check_global(ByteSpan content) {
    HEADRACE_TRY(const auto records, parse_pax(content));
    for (const auto& [key, value] : records) {
      if (key == "path" || key == "size" || key.starts_with("GNU.sparse."))
        return Error(Code::corrupt, fmt::format("a global header that sets \"{}\"", key));
    }
    return {};
  }

  Result<Entry> entry(Header&& header, const Bytes& block) {
    Entry found{.kind = Entry::Kind::entry,
                .begin = begin_,
                .name = extension_.name.value_or(std::move(header.name)),
                .type = header.type,
                .stored = header.size};
    if (found.is_file() && extension_.size) found.stored = *extension_.size;
    if (found.is_file() && extension_.sparse) found.sparse = std::move(extension_.sparse);
    if (header.type == Type::gnu_sparse) {
      auto more = parse_gnu_sparse(block.span(), found.sparse.emplace());
      while (more && *more) {
        HEADRACE_TRY(const bool there, window_.cover(at_ + kBlock));
        if (!there) return damaged("the end in the middle of an entry's headers");
        more = parse_gnu_more(window_.slice(at_, kBlock).span(), *found.sparse);
        at_ += kBlock;
      }
      if (!more) return damaged(more.error().cause());
    }
    found.data = at_;
    const std::uint64_t end = at_ + found.stored;
    HEADRACE_TRY(const bool whole, reaches(window_, end));
    if (!whole) {
      return damaged(fmt::format("\"{}\" of {} bytes leaves the file", found.name, found.stored));
    }
    found.end = at_ + padded(found.stored);
    HEADRACE_TRY(const bool with_padding, reaches(window_, found.end));
    if (!with_padding) found.end = window_.source_end().value_or(end);
    return found;
  }

  Window& window_;
  std::uint64_t begin_;
  std::uint64_t at_;
  Extension extension_;
};

}  // namespace

Result<Entry> read_entry(Window& window, std::uint64_t begin) {
  return Reader(window, begin).read();
}

Result<std::uint64_t> find_head(Window& window, std::uint64_t from) {
  for (std::uint64_t at = padded(std::max(from, window.begin()));; at += kBlock) {
    HEADRACE_TRY(const bool there, window.cover(at + kBlock));
    if (!there) return window.end();
    if (is_header(window.slice(at, kBlock).span())) return at;
    if (at % 65536 == 0) window.drop_before(at);
  }
}

}  // namespace headrace::tar
