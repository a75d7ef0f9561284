// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/image_record.h"

#include <fmt/format.h>

#include <cstring>

namespace headrace::recordio {
namespace {

struct Header {  // as on disk, little-endian
  std::uint32_t flag;
  float label;
  std::uint64_t id;
  std::uint64_t id2;
};
static_assert(sizeof(Header) == 24);

}  // namespace

Result<ImageRecord> parse_image_record(const Bytes& record) {
  if (record.size() < sizeof(Header)) {
    return Error(Code::corrupt,
                 fmt::format("a record of {} bytes, shorter than the image header of {}",
                             record.size(), sizeof(Header)));
  }
  Header header{};
  std::memcpy(&header, record.data(), sizeof header);
  const std::uint64_t label_bytes = header.flag * std::uint64_t{sizeof(float)};
  if (label_bytes > record.size() - sizeof header) {
    return Error(Code::corrupt,
                 fmt::format("{} labels in a record of {} bytes", header.flag, record.size()));
  }
  ImageRecord image{.flag = header.flag,
                    .header_label = header.label,
                    .id = header.id,
                    .id2 = header.id2,
                    .labels = std::vector<float>(header.flag)};
  if (header.flag == 0) {
    image.labels.push_back(header.label);
  } else {
    std::memcpy(image.labels.data(), record.data() + sizeof header, label_bytes);
  }
  const std::uint64_t begin = sizeof header + label_bytes;
  image.image = record.slice(begin, record.size() - begin);
  return image;
}

std::vector<std::byte> image_header(std::span<const float> labels, std::uint64_t id,
                                    std::uint64_t id2, bool as_list) {
  const bool listed = labels.size() > 1 || (as_list && !labels.empty());
  Header header{.flag = listed ? static_cast<std::uint32_t>(labels.size()) : 0,
                .label = listed || labels.empty() ? 0 : labels[0],
                .id = id,
                .id2 = id2};
  std::vector<std::byte> bytes(sizeof header + (listed ? labels.size_bytes() : 0));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (listed) std::memcpy(&bytes[sizeof header], labels.data(), labels.size_bytes());
  return bytes;
}

}  // namespace headrace::recordio
