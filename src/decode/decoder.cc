// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/decode/resize.h"
#include "headrace/decode/rgb_source.h"
#include "headrace/decode/store.h"

namespace headrace {

namespace {

struct Range {
  std::uint32_t begin = 0, size = 0, at = 0;
};

/// What of the resized picture an output of `size` from `crop` on shows, and where in the output:
/// the crop may leave the picture, on either side.
Range overlap(std::int64_t crop, std::uint32_t size, std::uint32_t scaled) {
  const auto begin = std::max<std::int64_t>(crop, 0);
  const auto end = std::min<std::int64_t>(crop + size, scaled);
  if (end <= begin) return {};
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin),
          static_cast<std::uint32_t>(begin - crop)};
}

}  // namespace

struct Decoder::Impl {
  explicit Impl(const DecodeLimits& limits) : source(limits) {}

  RgbSource source;
  Resizer resizer;
};

Decoder::Decoder(const DecodeLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
Decoder::~Decoder() = default;

Result<PictureInfo> Decoder::inspect(ByteSpan encoded) { return impl_->source.open(encoded); }

Result<Pixels> Decoder::decode(ByteSpan encoded) {
  HEADRACE_TRY(impl_->source.open(encoded));
  HEADRACE_TRY(const auto view, impl_->source.whole());
  return Pixels{
      view.width, view.height, {view.pixels, view.stride * view.height}, impl_->source.warnings()};
}

std::span<const std::string> Decoder::warnings() const { return impl_->source.warnings(); }

std::size_t Decoder::bytes_touched() const { return impl_->source.bytes_touched(); }

Result<void> Decoder::decode_into(ByteSpan encoded, const Transform& transform,
                                  const SampleKey& key, std::span<std::byte> out,
                                  const SeekUse* seek) {
  if (transform.width == 0 || transform.height == 0 || out.size() != transform.sample_bytes()) {
    return Error(Code::invalid,
                 fmt::format("a sample of {} x {} takes {} bytes, not {}", transform.width,
                             transform.height, transform.sample_bytes(), out.size()));
  }
  HEADRACE_TRY(const auto info, impl_->source.open(encoded));
  const auto params = params_for(transform, key, info.width, info.height);
  const auto x = overlap(params.crop_left, transform.width, params.scaled_width);
  const auto y = overlap(params.crop_top, transform.height, params.scaled_height);
  // A flip is of the output, its padding included.
  const auto left = params.flip ? transform.width - x.at - x.size : x.at;
  SampleWriter writer(transform, {left, y.at, x.size, y.size}, out);
  if (x.size == 0 || y.size == 0) {
    // Only padding is to be seen; a damaged picture is one all the same.
    HEADRACE_TRY(impl_->source.whole());
    return {};
  }
  const Box& box = params.source;
  impl_->resizer.begin(box.width, box.height,
                       {params.scaled_width,
                        params.scaled_height,
                        {x.begin, y.begin, x.size, y.size},
                        params.flip,
                        transform.filter,
                        transform.pass_order},
                       writer);
  return impl_->source.part(box, impl_->resizer, seek == nullptr ? SeekUse{} : *seek);
}

}  // namespace headrace
