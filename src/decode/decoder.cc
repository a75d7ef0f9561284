// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/decode/augment/canvas.h"
#include "headrace/decode/augment/colour_jitter.h"
#include "headrace/decode/augment/hls.h"
#include "headrace/decode/augment/warp.h"
#include "headrace/decode/colour_profile.h"
#include "headrace/decode/resize.h"
#include "headrace/decode/rgb_source.h"
#include "headrace/decode/shown.h"
#include "headrace/decode/store.h"

namespace headrace {

namespace {

/// The built-in classifier's crops have no border to fill.
Result<void> check_size(const Transform& transform, const Params& params) {
  const bool crops = transform.augment == Augment::crop ||
                     transform.augment == Augment::crop_color ||
                     transform.augment == Augment::crop_color_transform;
  if (!crops ||
      (params.scaled_width >= transform.width && params.scaled_height >= transform.height)) {
    return {};
  }
  return Error(
      Code::invalid,
      fmt::format("a picture of {} x {} is too small for a crop of {} x {}", params.scaled_width,
                  params.scaled_height, transform.width, transform.height),
      "give --resize a number above both, or a smaller size");
}

/// Zeros, whatever a zero means in the layout: of floats the mean colour, of bytes black.
void erase(const Transform& transform, const Box& box, std::span<std::byte> out) {
  const std::size_t value = bytes_of_value(transform.layout);
  const bool planes = transform.layout != Layout::nhwc_u8;
  const std::size_t pixel = planes ? value : value * transform.channels();
  const std::size_t line = transform.width * pixel;
  for (std::size_t plane = 0; plane < (planes ? transform.channels() : 1); ++plane) {
    for (std::size_t y = box.top; y < std::size_t{box.top} + box.height; ++y) {
      const std::size_t at = (plane * transform.height + y) * line + box.left * pixel;
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), box.width * pixel, std::byte{0});
    }
  }
}

}  // namespace

struct Decoder::Impl {
  explicit Impl(const DecodeLimits& limits) : source(limits) {}

  Result<void> sample(ByteSpan encoded, const Transform& transform, const SampleKey& key,
                      std::span<std::byte> out, const SeekUse& seek);
  Result<void> straight(const Transform& transform, const Params& params, std::span<std::byte> out,
                        const SeekUse& seek);
  Result<void> over_canvas(const Transform& transform, const Params& params,
                           std::span<std::byte> out, const SeekUse& seek);
  Result<void> warped(const Transform& transform, const Params& params, const SeekUse& seek);
  Result<void> seen_whole();
  Result<void> resized(const Transform& transform, const Params& params, const Box& window,
                       bool flip, RowSink& sink, const SeekUse& seek);

  RgbSource source;
  Resizer resizer;
  Stores stores = Stores::cached;
  // For transforms that ask for more; empty and unused otherwise.
  PictureInfo info;
  unsigned orientation = 1;
  bool follows_profile = false;
  ColourProfile profile;
  Canvas canvas, scaled;
  std::vector<std::uint8_t> profile_line, turned;
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

void Decoder::stream_samples(bool yes) { impl_->stores = yes ? Stores::streamed : Stores::cached; }

std::size_t Decoder::bytes_touched() const { return impl_->source.bytes_touched(); }

std::optional<PictureOutline> Decoder::outline() const {
  const auto jpeg = impl_->source.outline();
  if (!jpeg) return std::nullopt;
  return PictureOutline{*jpeg, impl_->source.orientation()};
}

Result<void> Decoder::decode_into(ByteSpan encoded, const Transform& transform,
                                  const SampleKey& key, std::span<std::byte> out,
                                  const SeekUse* seek) {
  if (transform.width == 0 || transform.height == 0 || out.size() != transform.sample_bytes()) {
    return Error(Code::invalid,
                 fmt::format("a sample of {} x {} takes {} bytes, not {}", transform.width,
                             transform.height, transform.sample_bytes(), out.size()));
  }
  return impl_->sample(encoded, transform, key, out, seek == nullptr ? SeekUse{} : *seek);
}

Result<void> Decoder::Impl::sample(ByteSpan encoded, const Transform& transform,
                                   const SampleKey& key, std::span<std::byte> out,
                                   const SeekUse& seek) {
  HEADRACE_TRY(info, source.open(encoded, seek.there));
  orientation = transform.orient == Orient::exif ? source.orientation() : 1;
  follows_profile = false;
  if (transform.colours == Colours::srgb) {
    if (const auto bytes = source.colour_profile(); !bytes.empty()) {
      auto why = profile.use(bytes);
      follows_profile = why.empty();
      if (!follows_profile) source.warn(std::move(why));
    }
  }
  const Turned upright(orientation, info.width, info.height);
  const auto params = params_for(transform, key, upright.width(), upright.height());
  HEADRACE_TRY(check_size(transform, params));
  if (params.warp || params.hls || params.jitter) {
    HEADRACE_TRY(over_canvas(transform, params, out, seek));
  } else {
    HEADRACE_TRY(straight(transform, params, out, seek));
  }
  if (params.erase.width > 0) erase(transform, params.erase, out);
  return {};
}

/// `window` of the resized picture, in the orientation and colours that were asked for.
Result<void> Decoder::Impl::resized(const Transform& transform, const Params& params,
                                    const Box& window, bool flip, RowSink& sink,
                                    const SeekUse& seek) {
  const Box& box = params.source;
  resizer.begin(box.width, box.height,
                {params.scaled_width, params.scaled_height, window, flip, transform.filter,
                 transform.pass_order},
                sink);
  Box needed = resizer.needed();
  needed.left += box.left;
  needed.top += box.top;
  ResizeRows resize(resizer);
  if (orientation == 1 && !follows_profile) return source.part(needed, resize, seek);
  const Box stored = Turned(orientation, info.width, info.height).from(needed);
  TurnedRows turn(orientation, stored.width, stored.height, turned, resize);
  PartRows& upright = orientation == 1 ? static_cast<PartRows&>(resize) : turn;
  if (!follows_profile) return source.part(stored, upright, seek);
  ProfileRows colours(profile, stored.width, profile_line, upright);
  return source.part(stored, colours, seek);
}

/// Only padding is to be seen; a damaged picture is one all the same.
Result<void> Decoder::Impl::seen_whole() {
  HEADRACE_TRY(source.whole());
  return {};
}

Result<void> Decoder::Impl::straight(const Transform& transform, const Params& params,
                                     std::span<std::byte> out, const SeekUse& seek) {
  const auto shown = shown_of(transform, params);
  SampleWriter writer(transform, shown.window, out, stores);
  if (shown.nothing()) return seen_whole();
  return resized(transform, params, shown.part, params.flip, writer, seek);
}

/// By way of memory: what changes pixels by their neighbours or by all others, or is rare.
Result<void> Decoder::Impl::over_canvas(const Transform& transform, const Params& params,
                                        std::span<std::byte> out, const SeekUse& seek) {
  if (params.warp) {
    HEADRACE_TRY(warped(transform, params, seek));
  } else {
    const auto shown = shown_of(transform, params);
    canvas.reset(transform.width, transform.height);
    CanvasRows rows(canvas, shown.window);
    HEADRACE_TRY(shown.nothing() ? seen_whole()
                                 : resized(transform, params, shown.part, params.flip, rows, seek));
  }
  if (params.hls) shift_hls(*params.hls, canvas);
  if (params.jitter) jitter_colours(*params.jitter, canvas);
  SampleWriter writer(transform, {0, 0, transform.width, transform.height}, out, stores);
  for (std::uint32_t y = 0; y < transform.height; ++y) writer.row(y, canvas.row(y));
  return {};
}

Result<void> Decoder::Impl::warped(const Transform& transform, const Params& params,
                                   const SeekUse& seek) {
  const Warp warp(*params.warp);
  const Box window{static_cast<std::uint32_t>(params.crop_left),
                   static_cast<std::uint32_t>(params.crop_top), transform.width, transform.height};
  const Box part = part_of(transform, params);
  scaled.reset(part.width, part.height);
  CanvasRows rows(scaled, {0, 0, part.width, part.height});
  const bool outside = part.width == 0 || part.height == 0;
  HEADRACE_TRY(outside ? seen_whole() : resized(transform, params, part, false, rows, seek));
  warp.run(scaled, part, window, params.flip, canvas);
  return {};
}

}  // namespace headrace
