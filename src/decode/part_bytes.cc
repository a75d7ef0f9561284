// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/part_bytes.h"

#include "headrace/decode/metadata.h"
#include "headrace/decode/resize_table.h"
#include "headrace/decode/shown.h"

namespace headrace {

std::vector<jpeg::ByteRun> bytes_needed(const PictureOutline& outline, std::size_t picture_bytes,
                                        const Transform& transform, const SampleKey& key,
                                        ByteSpan index, const Hash128& payload) {
  const unsigned orientation = transform.orient == Orient::exif ? outline.orientation : 1;
  const Turned upright(orientation, outline.jpeg.width, outline.jpeg.height);
  const auto params = params_for(transform, key, upright.width(), upright.height());
  const Box part = part_of(transform, params);
  if (part.width == 0 || part.height == 0) return {};
  const Box& source = params.source;
  const auto x = ResizeTable::reach(transform.filter, source.width, params.scaled_width, part.left,
                                    part.width);
  const auto y = ResizeTable::reach(transform.filter, source.height, params.scaled_height, part.top,
                                    part.height);
  const Box needed{source.left + x.first, source.top + y.first, x.second - x.first,
                   y.second - y.first};
  return jpeg::bytes_needed(outline.jpeg, upright.from(needed), picture_bytes, index, payload);
}

}  // namespace headrace
