// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/inspect/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/base/sha256.h"

namespace headrace {
namespace {

std::string hex(ByteSpan bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

/// Columns of MDS are mostly numbers and short names: up to 32 bytes they are shown themselves.
FieldLine field_line(const RawField& field, bool short_as_hex) {
  constexpr std::size_t kShort = 32;
  FieldLine line{.name = field.name, .bytes = field.content.size()};
  if (short_as_hex && field.content.size() <= kShort) {
    line.hex = hex(field.content.span());
  } else {
    line.sha256 = sha256_hex(field.content.span());
  }
  return line;
}

}  // namespace

Summary summarise(const Dataset& set) {
  Summary summary{.format = set.format(),
                  .samples = set.size(),
                  .classes = set.classes(),
                  .fingerprint = set.fingerprint(),
                  .index_source = set.index_source(),
                  .damage = set.damage()};
  for (std::uint64_t id = 0; id < set.size(); ++id) {
    const std::uint64_t bytes = set.frame_bytes(SampleId{id});
    summary.frame_bytes += bytes;
    summary.smallest = id == 0 ? bytes : std::min(summary.smallest, bytes);
    summary.largest = std::max(summary.largest, bytes);
  }
  return summary;
}

Result<RecordsEnd> list_records(Store& store, const Dataset& set, const ReadAheadOptions& reading,
                                const std::stop_token& stop,
                                const std::function<void(const RecordLine&)>& use,
                                Notices* notices) {
  Notices unheard;
  RecordsEnd end{.records = 0, .damage = set.damage()};
  ReadAhead reader(store, set, reading, stop);
  std::string object;
  std::uint64_t record = 0;
  while (auto answer = reader.next()) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    const SampleId id = answer->id;
    if (!answer->frame && answer->frame.error().code() != Code::corrupt)
      return std::move(answer->frame).error();
    Extent extent = set.locate(answer->id);
    const ByteRange place = set.stream_range(answer->id);
    if (extent.key != object) {
      object = extent.key;
      record = 0;
    }
    const auto raw = look_twice<RawRecord>(store, set, id, answer->frame,
                                           notices == nullptr ? unheard : *notices, stop,
                                           [&](const Bytes& frame) { return set.raw(id, frame); });
    if (!raw && raw.error().code() != Code::corrupt) return raw.error();
    if (!raw) {
      // What the index knows as damage is in the list already, with its true end.
      const bool known = std::ranges::any_of(end.damage, [&](const PlacedDamage& one) {
        return one.key == extent.key && one.damage.begin == place.offset;
      });
      if (!known) {
        end.damage.push_back({.key = extent.key,
                              .damage = {.begin = place.offset,
                                         .end = place.offset + place.length,
                                         .why = raw.error().cause()}});
      }
      continue;
    }
    RecordLine line{.record = raw->number.value_or(record),
                    .object = object,
                    .offset = place.offset,
                    .length = raw->content.size(),
                    .sha256 = sha256_hex(raw->content.span()),
                    .key = raw->key,
                    .labels = raw->labels};
    for (const RawField& field : raw->fields)
      line.fields.push_back(field_line(field, set.format() == "mds"));
    use(line);
    ++record;
    ++end.records;
  }
  return end;
}

}  // namespace headrace
