// SPDX-License-Identifier: Apache-2.0
#include "coefficient_decoder.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/needed.h"
#include "headrace/decode/jpeg/scan.h"
#include "headrace/decode/jpeg/scout.h"
#include "headrace/decode/jpeg/streams.h"
// An experiment may look inside: the steps behind the coefficients shall be the shipped ones, and
// the decoder has no door for coefficients. What is included above is not affected.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"  // which is the point
#endif
#define private public
#include "headrace/decode/jpeg/region.h"
#undef private

#include "expand.h"
#include "headrace/decode/part_rows.h"
#include "headrace/decode/resize.h"
#include "headrace/decode/shown.h"
#include "headrace/decode/store.h"

namespace headrace::coefficients {
namespace {

/// Rows of one component lie apart, which a processor that prefetches by itself does not foresee.
/// Where the values of the columns are is guessed: as many bytes for each. Inlined, since GCC 12
/// drops calls of functions that do nothing but prefetch.
__attribute__((always_inline)) inline void prefetch(const Form& form, std::size_t row,
                                                    std::size_t blocks, std::size_t first,
                                                    std::size_t last) {
  const auto fetch = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += 64) __builtin_prefetch(form.bytes.data() + begin);
  };
  const std::size_t masks = form.offset(row), dcs = masks + blocks * 8, values = dcs + blocks * 2;
  const std::size_t end = form.offset(row + 1);
  if (end > form.bytes.size() || values > end) return;  // damaged; expand_row will say so
  const std::size_t size = end - values;
  fetch(masks + first * 8, masks + last * 8);
  fetch(dcs + first * 2, dcs + last * 2);
  fetch(values + size * first / blocks, values + size * last / blocks);
}

}  // namespace

struct CoefficientDecoder::Impl {
  jpeg::RegionDecoder region;
  Resizer resizer;
};

CoefficientDecoder::CoefficientDecoder() : impl_(std::make_unique<Impl>()) {}
CoefficientDecoder::~CoefficientDecoder() = default;

bool CoefficientDecoder::expand_row(const Form& form, std::uint32_t mcu_row, std::int16_t* out) {
  const auto& region = impl_->region;
  const jpeg::Headers& headers = region.headers_;
  for (std::uint32_t i = 0; i < headers.component_count; ++i) {
    const auto& plane = region.planes_[i];
    const std::size_t blocks = std::size_t{jpeg::mcus_per_row(headers)} * plane.h;
    const std::size_t first = std::size_t{region.mcus_.first} * plane.h;
    const std::size_t last = std::size_t{region.mcus_.last} * plane.h;
    for (std::uint32_t y = 0; y < plane.v; ++y) {
      if (mcu_row + 1 < region.mcus_.last_row) {
        prefetch(form, row_number(headers, mcu_row + 1, i, y), blocks, first, last);
      }
      const std::size_t number = row_number(headers, mcu_row, i, y);
      const std::size_t begin = form.offset(number), end = form.offset(number + 1);
      if (end + kSlack > form.bytes.size() || begin + blocks * 10 > end) return false;
      const std::uint8_t* masks = form.bytes.data() + begin;
      const BlockRow row{masks, masks + blocks * 8, masks + blocks * 10, end - begin - blocks * 10};
      std::int16_t* const to = out + plane.arena_offset + y * plane.row_stride;
      const auto values =
          avx512_ ? expand_avx512(row, first, last, to) : expand_avx2(row, first, last, to);
      if (!values) return false;
      touched_ += last * 8 + (last - first) * 2 + *values;
    }
  }
  return true;
}

bool CoefficientDecoder::decode_into(const Form& form, const Transform& transform,
                                     const SampleKey& key, std::span<std::byte> out) {
  auto& region = impl_->region;
  if (!region.open(std::as_bytes(std::span(form.bytes)).first(form.headers)).empty()) return false;
  // As Decoder::Impl::straight and ::resized do it.
  const Params params = params_for(transform, key, region.width(), region.height());
  const Shown shown = shown_of(transform, params);
  SampleWriter writer(transform, shown.window, out);
  impl_->resizer.begin(params.source.width, params.source.height,
                       {params.scaled_width, params.scaled_height, shown.part, params.flip,
                        transform.filter, transform.pass_order},
                       writer);
  Box box = impl_->resizer.needed();
  box.left += params.source.left;
  box.top += params.source.top;
  ResizeRows rows(impl_->resizer);

  region.lay_out(box, 1);
  const auto& mcus = region.mcus_;
  std::int16_t* const arena = region.arenas_[0].room(region.arena_size_);
  touched_ = form.headers + std::size_t{mcus.last_row - mcus.first_row} * 4;
  std::uint32_t y = box.top;
  for (std::uint32_t mcu_row = mcus.first_row; mcu_row < mcus.last_row; ++mcu_row) {
    const bool wanted = !one_row_only_ || mcu_row == mcus.first_row;
    if (wanted && !expand_row(form, mcu_row, arena)) return false;
    region.transform_row(mcu_row, arena);
    y = region.emit_ready(box, y, mcu_row, {nullptr, 0, &rows});
  }
  const auto offset_of = [&](std::uint32_t mcu_row) {
    return form.offset(row_number(region.headers_, mcu_row, 0, 0));
  };
  rows_ = form.headers + offset_of(mcus.last_row) - offset_of(mcus.first_row);
  return true;
}

}  // namespace headrace::coefficients
