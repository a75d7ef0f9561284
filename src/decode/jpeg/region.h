// SPDX-License-Identifier: Apache-2.0
/// \file A rectangle of a JPEG in RGB, exactly as libjpeg-turbo decodes it whole and then crops.
///
/// Not thread-safe; one a thread, reused without allocation once it has seen the largest picture.
/// The whole entropy-coded data is always read, so that a damaged picture is noticed wherever the
/// rectangle lies; inverse DCT, upsampling and colour are done only where the rectangle needs them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/jpeg/headers.h"
#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/needed.h"
#include "headrace/decode/jpeg/scan.h"
#include "headrace/decode/jpeg/scout.h"
#include "headrace/decode/jpeg/seek_index.h"
#include "headrace/decode/jpeg/streams.h"
#include "headrace/decode/transform.h"

namespace headrace::jpeg {

/// Takes the rows of a box as they are decoded, top to bottom.
class PlaneRows {
 public:
  PlaneRows() = default;
  PlaneRows(const PlaneRows&) = delete;
  PlaneRows& operator=(const PlaneRows&) = delete;
  virtual ~PlaneRows() = default;

  /// Red, green and blue, one row of the box each. Valid during the call; kPlaneSlack bytes
  /// behind the end of each may be read.
  virtual void row(const std::array<const std::uint8_t*, 3>& planes) = 0;
};
inline constexpr std::size_t kPlaneSlack = 128;

class RegionDecoder {
 public:
  /// Reads the headers. Empty if this picture can be taken, else why not: the caller then uses
  /// libjpeg-turbo. With `there` only these parts of the bytes are looked at, then and later:
  /// what needs others fails. REQUIRES: both stay until the last `decode`; `there` is in order
  std::string_view open(ByteSpan bytes, std::span<const ByteRun> there = {});
  Outline outline() const { return outline_of(headers_); }
  std::uint32_t width() const { return headers_.width; }
  std::uint32_t height() const { return headers_.height; }

  /// Writes box.height rows of box.width RGB pixels at `rgb`, `stride` bytes apart. False: the
  /// data is not clean, and what was written means nothing. With an interval, checkpoints are
  /// noted, so many MCUs apart. REQUIRES: the box lies inside.
  bool decode(const Box& box, std::uint8_t* rgb, std::size_t stride, std::uint32_t interval = 0);
  /// The same rows to `rows`, while they are in the cache. If it returns false, some rows have
  /// been given out, and mean nothing.
  bool decode(const Box& box, PlaneRows& rows, std::uint32_t interval = 0);
  /// For `decode`: see checkpoint_interval.
  std::uint32_t interval() const { return checkpoint_interval(headers_, bytes_.size()); }
  /// For tests: pictures of fewer bytes are not decoded by scouts (0: any picture is that can be,
  /// whether it pays or not); and whether the last one was.
  void set_least_scouted(std::size_t bytes) { least_scouted_ = bytes; }
  bool scouted() const { return scouted_; }
  /// After a `decode` with an interval: the seek index of this picture, `payload` being the hash of
  /// its bytes. Empty for a picture that can have none: with restart intervals, for one.
  std::vector<std::byte> seek_index(const Hash128& payload);

  /// The same as `decode`, by an index made from exactly these bytes: reads only what the box
  /// needs, several MCU rows at once. False: the index is not one for this picture (or none):
  /// decode without it.
  bool decode_indexed(const Box& box, std::uint8_t* rgb, std::size_t stride, ByteSpan index,
                      const Hash128& payload);
  bool decode_indexed(const Box& box, PlaneRows& rows, ByteSpan index, const Hash128& payload);
  /// How many bytes of the picture the last `decode_indexed` read.
  std::size_t bytes_touched() const { return touched_; }

 private:
  /// Where finished rows go: one of the two.
  struct Target {
    std::uint8_t* rgb = nullptr;
    std::size_t stride = 0;
    PlaneRows* rows = nullptr;
  };
  bool decode_to(const Box& box, const Target& target, std::uint32_t interval);
  bool decode_indexed_to(const Box& box, const Target& target, ByteSpan index,
                         const Hash128& payload);

  struct Plane {  ///< samples of one component for the MCUs that the box needs
    std::vector<std::uint8_t> samples;
    std::size_t stride = 0;
    std::size_t arena_offset = 0;         ///< of its coefficients in an arena
    std::size_t row_stride = 0;           ///< of coefficients
    std::uint32_t h = 1, v = 1;           ///< sampling factors
    std::uint32_t left = 0, top = 0;      ///< first column and row held, in samples
    std::uint32_t width = 0, height = 0;  ///< of the whole component, in samples
    alignas(64) std::array<std::uint16_t, 64> quant{};

    std::uint8_t* row(std::uint32_t y) {
      return samples.data() + kOrigin + std::size_t{y - top} * stride;
    }
    static constexpr std::size_t kOrigin = 64;
  };

  /// The coefficients of one MCU row, all components, 64-byte aligned.
  struct Arena {
    std::vector<std::int16_t> memory;
    /// Room for so many; what stands there means nothing.
    std::int16_t* room(std::size_t size);
  };

  /// `grain`: the first column of MCUs is a multiple of it.
  void lay_out(const Box& box, std::uint32_t grain);
  std::uint32_t first_with_tables_of(std::uint32_t component) const;
  void list_blocks();
  bool build_tables();
  void plan_blocks();
  bool decode_by_streams(const SeekIndex& index, const Box& box, const Target& target);
  bool decode_by_lanes(const SeekIndex& index, const Box& box, const Target& target);
  /// Nothing: not to be decoded so.
  std::optional<bool> decode_by_scouts(const Box& box, const Target& target);
  template <class AddStretches>
  bool decode_bands(LaneJob& job, const Box& box, const Target& target, const AddStretches& add);
  bool build_lane_tables();
  void plan_lanes(LaneJob& job);
  void clear_spare_blocks(std::int16_t* coefficients) const;
  bool add_stretches(const SeekIndex& index, std::uint32_t mcu_row, std::int16_t* out,
                     std::size_t& used);
  bool read_stretch(const SeekIndex& index, std::uint32_t mcu_row, std::size_t& used,
                    StreamRow& row);
  void sum_dc(const Checkpoint& begin, std::int16_t* coefficients) const;
  void transform_row(std::uint32_t mcu_row, const std::int16_t* coefficients);
  /// Emits the lines that are complete after this MCU row; returns the next line.
  std::uint32_t emit_ready(const Box& box, std::uint32_t y, std::uint32_t mcu_row,
                           const Target& target);
  void replicate_edges(Plane& plane, std::uint32_t y);
  void emit(const Box& box, std::uint32_t y, const Target& target);
  const std::uint8_t* chroma(Plane& plane, const Box& box, std::uint32_t y,
                             std::vector<std::uint8_t>& line);

  ByteSpan bytes_;
  std::span<const ByteRun> there_;  ///< of them; empty: all
  Headers headers_;
  ScanDecoder scan_;
  std::array<Plane, 3> planes_;
  Mcus mcus_;  ///< that the box needs
  std::array<Arena, kStreams> arenas_;
  std::size_t arena_size_ = 0;
  std::size_t touched_ = 0;
  std::uint32_t interval_ = 0;         ///< of the checkpoints that the last `decode` noted
  std::array<BlockTables, 3> tables_;  ///< for `decode_indexed`
  std::array<const BlockTables*, 3> tables_of_{};  ///< of each component
  std::vector<BlockPlan> plan_;
  std::vector<LaneEntry> lane_entries_;  ///< the same for lanes, where there are any
  std::array<LaneTables, 3> lane_tables_;
  std::vector<RowBlock> row_;  ///< the blocks of an MCU row's stretch, in the order of the scan
  std::vector<LaneStretch> stretches_;
  std::vector<std::vector<BlockEnd>> scouts_;
  std::vector<Checkpoint> mcu_starts_;
  std::size_t least_scouted_ = kLeastScouted;
  bool scouted_ = false;
  Arena band_;                       ///< coefficients of several MCU rows
  std::vector<std::uint8_t> clean_;  ///< the stretches of `decode_indexed`, without stuffed zeros
  std::vector<std::uint8_t> cb_line_, cr_line_, grey_;
  std::array<std::vector<std::uint8_t>, 3> colours_;  ///< one finished row, if planes are asked for
};

}  // namespace headrace::jpeg
