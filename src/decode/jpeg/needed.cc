// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/needed.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace headrace::jpeg {

Outline outline_of(const Headers& headers) {
  return {.width = headers.width,
          .height = headers.height,
          .h = headers.components[0].h,
          .v = headers.components[0].v,
          .restarts = headers.restart_interval,
          .scan_begin = static_cast<std::uint32_t>(headers.scan_begin)};
}

/// Fancy upsampling looks one chroma sample beyond each edge of the box.
Mcus mcus_of(const Outline& outline, const Box& box, std::uint32_t grain) {
  const auto needed = [](std::uint32_t begin, std::uint32_t size, std::uint32_t factor) {
    const std::uint32_t first = begin / factor;
    const std::uint32_t last = (begin + size - 1) / factor;
    const std::uint32_t margin = factor > 1 ? 1 : 0;
    return std::pair{(first - std::min(first, margin)) / 8, (last + margin) / 8 + 1};
  };
  Mcus mcus;
  std::tie(mcus.first, mcus.last) = needed(box.left, box.width, outline.h);
  std::tie(mcus.first_row, mcus.last_row) = needed(box.top, box.height, outline.v);
  mcus.first -= mcus.first % grain;
  mcus.last = std::min(mcus.last, divide_up(outline.width, 8 * outline.h));
  mcus.last_row = std::min(mcus.last_row, divide_up(outline.height, 8 * outline.v));
  return mcus;
}

std::optional<ByteRun> stretch_of(const SeekIndex& index, const Mcus& mcus, std::uint32_t mcu_row,
                                  const Outline& outline, std::size_t picture_bytes) {
  const std::uint32_t interval = index.interval();
  const std::uint32_t next = divide_up(mcus.last, interval);
  ByteRun run{index.at(mcu_row, mcus.first / interval).bit / 8, picture_bytes};
  if (next < index.per_row()) {
    run.end = (index.at(mcu_row, next).bit + 7) / 8;
  } else if (mcu_row + 1 < index.rows()) {
    run.end = (index.at(mcu_row + 1, 0).bit + 7) / 8;
  }
  if (run.begin < outline.scan_begin || run.begin >= run.end || run.end > picture_bytes) return {};
  return run;
}

bool covers(std::span<const ByteRun> runs, const ByteRun& run) {
  const auto after = std::ranges::upper_bound(runs, run.begin, {}, &ByteRun::begin);
  return after != runs.begin() && run.end <= std::prev(after)->end;
}

std::vector<ByteRun> bytes_needed(const Outline& outline, const Box& box, std::size_t picture_bytes,
                                  ByteSpan index, const Hash128& payload) {
  Headers headers;
  headers.width = outline.width;
  headers.height = outline.height;
  headers.components[0].h = outline.h;
  headers.components[0].v = outline.v;
  headers.restart_interval = outline.restarts;
  const auto opened = SeekIndex::open(index, payload, headers);
  if (!opened || outline.scan_begin == 0) return {};
  const Mcus mcus = mcus_of(outline, box, opened->interval());
  std::vector<ByteRun> runs{{0, outline.scan_begin}};
  for (std::uint32_t row = mcus.first_row; row < mcus.last_row; ++row) {
    const auto run = stretch_of(*opened, mcus, row, outline, picture_bytes);
    // Rows follow each other in the file; an index that says otherwise is wrong.
    if (!run || run->begin + 1 < runs.back().end) return {};
    if (run->begin <= runs.back().end) {  // the byte in which one ends and the next begins
      runs.back().end = run->end;
    } else {
      runs.push_back(*run);
    }
  }
  return runs;
}

}  // namespace headrace::jpeg
