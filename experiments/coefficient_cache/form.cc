// SPDX-License-Identifier: Apache-2.0
#include "form.h"

#include <cstring>
#include <span>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/scan.h"

namespace headrace::coefficients {
namespace {

using jpeg::block_offset, jpeg::kGroupSize;

template <class T>
void put(std::vector<std::uint8_t>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Appends one row of blocks, which lie as kernels.h says.
void append_row(const std::int16_t* row, std::size_t blocks, Form& form) {
  auto& bytes = form.bytes;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::size_t masks = bytes.size(), dcs = masks + blocks * 8;
  bytes.resize(dcs + blocks * 2);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::int16_t* block = row + block_offset(b);
    put(bytes, dcs + b * 2, block[0]);
    std::uint64_t mask = 0;
    std::int16_t values[64];
    std::size_t count = 0;
    bool wide = false;
    for (std::size_t place = 1; place < 64; ++place) {
      const std::int16_t value = block[place / 8 * 32 + place % 8];
      if (value == 0) continue;
      mask |= std::uint64_t{1} << place;
      values[count++] = value;
      wide = wide || value != static_cast<std::int8_t>(value);
    }
    put(bytes, masks + b * 8, mask | (wide ? 1U : 0U));
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint16_t>(values[i]);
      bytes.push_back(static_cast<std::uint8_t>(value));
      if (wide) bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
    }
    form.wide += wide ? 1 : 0;
    form.values += count;
  }
  form.blocks += blocks;
}

}  // namespace

std::optional<Form> make_form(ByteSpan jpeg) {
  const auto outcome = jpeg::parse(jpeg);
  if (!outcome.headers) return std::nullopt;
  const jpeg::Headers& headers = *outcome.headers;
  jpeg::ScanDecoder scan;
  if (!scan.start(headers, jpeg) || !scan.begin_rows()) return std::nullopt;

  Form form;
  form.headers = headers.scan_begin;
  form.bytes.resize(form.table() + (row_number(headers, scan.mcu_rows(), 0, 0) + 1) * 4);
  std::memcpy(form.bytes.data(), jpeg.data(), form.headers);
  std::array<std::vector<std::int16_t>, 3> rows;
  std::array<jpeg::CoefficientRow, 3> targets;
  for (std::uint32_t i = 0; i < headers.component_count; ++i) {
    const auto& c = headers.components[i];
    targets[i].row_stride =
        jpeg::divide_up(scan.mcus_per_row() * c.h, jpeg::kGroupBlocks) * kGroupSize;
    rows[i].resize(targets[i].row_stride * c.v);
    targets[i].data = rows[i].data();
  }
  std::size_t entry = form.table();
  for (std::uint32_t mcu_row = 0; mcu_row < scan.mcu_rows(); ++mcu_row) {
    for (auto& row : rows) std::fill(row.begin(), row.end(), std::int16_t{0});
    if (!scan.next_row(0, scan.mcus_per_row(), targets)) return std::nullopt;
    for (std::uint32_t i = 0; i < headers.component_count; ++i) {
      const auto& c = headers.components[i];
      for (std::uint32_t y = 0; y < c.v; ++y, entry += 4) {
        put(form.bytes, entry, static_cast<std::uint32_t>((form.bytes.size() + 7) / 8 * 8));
        append_row(targets[i].data + y * targets[i].row_stride,
                   std::size_t{scan.mcus_per_row()} * c.h, form);
      }
    }
  }
  if (!scan.ended_cleanly()) return std::nullopt;
  form.bytes.resize((form.bytes.size() + 7) / 8 * 8);
  put(form.bytes, entry, static_cast<std::uint32_t>(form.bytes.size()));
  form.bytes.resize(form.bytes.size() + kSlack);
  return form;
}

}  // namespace headrace::coefficients
