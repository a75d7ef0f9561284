// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/region.h"

#include <algorithm>
#include <memory>

#include "headrace/decode/jpeg/kernels.h"

namespace headrace::jpeg {

std::string_view RegionDecoder::open(ByteSpan bytes, std::span<const ByteRun> there) {
  bytes_ = bytes;
  there_ = there;
  const auto outcome = parse(bytes);
  if (!outcome.headers) return outcome.why;
  if (!there.empty() && !covers(there, {0, outcome.headers->scan_begin})) return "headers missing";
  headers_ = *outcome.headers;
  const std::uint32_t h = headers_.components[0].h, v = headers_.components[0].v;
  // Narrow chroma is not "fancy" in the reference; it is not worth a kernel here either.
  if (h == 2 && divide_up(headers_.width, 2) <= 2) return "too narrow";
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    const Component& c = headers_.components[i];
    Plane& plane = planes_[i];
    plane.h = c.h;
    plane.v = c.v;
    plane.width = divide_up(headers_.width * c.h, h);
    plane.height = divide_up(headers_.height * c.v, v);
    plane.quant = in_block_order(headers_.quant[c.quant]);
  }
  return {};
}

std::int16_t* RegionDecoder::Arena::room(std::size_t size) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t needed = size + kAlignment / sizeof(std::int16_t);
  if (memory.size() < needed) memory.resize(needed);
  void* at = memory.data();
  std::size_t space = memory.size() * sizeof(std::int16_t);
  return static_cast<std::int16_t*>(std::align(kAlignment, size * sizeof(std::int16_t), at, space));
}

void RegionDecoder::lay_out(const Box& box, std::uint32_t grain) {
  mcus_ = mcus_of(outline(), box, grain);
  const std::uint32_t mcus = mcus_.last - mcus_.first;
  arena_size_ = 0;
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    Plane& plane = planes_[i];
    const std::size_t groups = divide_up(mcus * plane.h, kGroupBlocks);
    plane.row_stride = groups * kGroupSize;
    plane.left = mcus_.first * plane.h * 8;
    plane.top = mcus_.first_row * plane.v * 8;
    plane.stride = groups * kGroupBlocks * 8 + 2 * kRowSlack;
    const std::size_t rows = std::size_t{mcus_.last_row - mcus_.first_row} * plane.v * 8;
    const auto grow = [](auto& vector, std::size_t size) {
      if (vector.size() < size) vector.resize(size);
    };
    grow(plane.samples, Plane::kOrigin + rows * plane.stride + kRowSlack);
    plane.arena_offset = arena_size_;
    arena_size_ += plane.row_stride * plane.v;
    grow(i == 1 ? cb_line_ : cr_line_, std::size_t{headers_.width} + 4 * kRowSlack);
  }
  arena_size_ += kGroupSize;  // for what is read and means nothing
  if (headers_.component_count == 1 && grey_.size() < headers_.width + 2 * kRowSlack) {
    grey_.assign(headers_.width + 2 * kRowSlack, 128);
  }
}

void RegionDecoder::transform_row(std::uint32_t mcu_row, const std::int16_t* coefficients) {
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    Plane& plane = planes_[i];
    for (std::uint32_t y = 0; y < plane.v; ++y) {
      const std::uint32_t first_row = (mcu_row * plane.v + y) * 8;
      std::uint8_t* out = plane.row(first_row);
      idct_groups(coefficients + plane.arena_offset + y * plane.row_stride, plane.quant.data(), out,
                  plane.stride, plane.row_stride / kGroupSize);
      if (plane.h == headers_.components[0].h) continue;  // never upsampled
      for (std::uint32_t r = 0; r < 8; ++r) replicate_edges(plane, first_row + r);
    }
  }
}

/// What upsampling finds beyond a true edge of the picture is the edge sample again.
void RegionDecoder::replicate_edges(Plane& plane, std::uint32_t y) {
  std::uint8_t* row = plane.row(y);
  if (plane.left == 0) row[-1] = row[0];
  const std::uint32_t end = plane.width - plane.left;
  if (end < plane.stride - kRowSlack) row[end] = row[end - 1];
}

const std::uint8_t* RegionDecoder::chroma(Plane& plane, const Box& box, std::uint32_t y,
                                          std::vector<std::uint8_t>& line) {
  const std::uint32_t h = headers_.components[0].h, v = headers_.components[0].v;
  if (h == 1) return plane.row(y) + (box.left - plane.left);
  const std::uint32_t first = box.left / 2;
  const std::uint32_t count = (box.left + box.width - 1) / 2 - first + 1;
  const std::uint8_t* near = plane.row(y / v) + (first - plane.left);
  if (v == 1) {
    upsample_h2v1(near, line.data(), count);
  } else {
    const std::uint32_t at = y / 2;
    const std::uint32_t above = at == 0 ? 0 : at - 1;
    const std::uint32_t below = std::min(at + 1, plane.height - 1);
    upsample_h2v2(near, plane.row(y % 2 == 0 ? above : below) + (first - plane.left), line.data(),
                  count);
  }
  return line.data() + box.left % 2;
}

void RegionDecoder::emit(const Box& box, std::uint32_t y, const Target& target) {
  Plane& luma = planes_[0];
  const std::uint8_t* from = luma.row(y) + (box.left - luma.left);
  const bool grey = headers_.component_count == 1;
  const std::uint8_t* cb = grey ? grey_.data() : chroma(planes_[1], box, y, cb_line_);
  const std::uint8_t* cr = grey ? grey_.data() : chroma(planes_[2], box, y, cr_line_);
  if (target.rows == nullptr) {
    ycc_to_rgb(from, cb, cr, target.rgb + std::size_t{y - box.top} * target.stride, box.width);
    return;
  }
  for (auto& colour : colours_) {
    if (colour.size() < box.width + kPlaneSlack) colour.resize(box.width + kPlaneSlack);
  }
  ycc_to_planes(from, cb, cr, colours_[0].data(), colours_[1].data(), colours_[2].data(),
                box.width);
  target.rows->row({colours_[0].data(), colours_[1].data(), colours_[2].data()});
}

std::uint32_t RegionDecoder::emit_ready(const Box& box, std::uint32_t y, std::uint32_t mcu_row,
                                        const Target& target) {
  // Lines whose chroma neighbours below are still to come wait for the next MCU row.
  const std::uint32_t v = headers_.components[0].v;
  const bool last = (mcu_row + 1) * v * 8 >= headers_.height;
  const std::uint32_t margin = v > 1 && !last ? 1 : 0;
  const std::uint32_t ready = std::min((mcu_row + 1) * v * 8 - margin, box.top + box.height);
  for (; y < ready; ++y) emit(box, y, target);
  return y;
}

bool RegionDecoder::decode(const Box& box, std::uint8_t* rgb, std::size_t stride,
                           std::uint32_t interval) {
  return decode_to(box, {rgb, stride, nullptr}, interval);
}

bool RegionDecoder::decode(const Box& box, PlaneRows& rows, std::uint32_t interval) {
  return decode_to(box, {nullptr, 0, &rows}, interval);
}

bool RegionDecoder::decode_to(const Box& box, const Target& target, std::uint32_t interval) {
  interval_ = interval;
  if (!there_.empty()) return false;  // all bytes are needed
  if (!scan_.start(headers_, bytes_, interval)) return false;
  lay_out(box, 1);
  if (const auto done = decode_by_scouts(box, target)) return *done;
  if (!scan_.begin_rows()) return false;
  std::int16_t* const arena = arenas_[0].room(arena_size_);
  std::uint32_t y = box.top;
  for (std::uint32_t row = 0; row < scan_.mcu_rows(); ++row) {
    if (row < mcus_.first_row || row >= mcus_.last_row) {
      if (!scan_.next_row(0, 0, {})) return false;
      continue;
    }
    std::fill_n(arena, arena_size_, std::int16_t{0});
    std::array<CoefficientRow, 3> targets;
    for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
      targets[i] = {arena + planes_[i].arena_offset, planes_[i].row_stride};
    }
    if (!scan_.next_row(mcus_.first, mcus_.last, targets)) return false;
    transform_row(row, arena);
    y = emit_ready(box, y, row, target);
  }
  return scan_.ended_cleanly();
}

std::vector<std::byte> RegionDecoder::seek_index(const Hash128& payload) {
  const auto checkpoints = scan_.checkpoints();
  if (checkpoints.empty()) return {};
  return SeekIndex::serialise(checkpoints, interval_, payload);
}

}  // namespace headrace::jpeg
