// SPDX-License-Identifier: Apache-2.0
/// \file Who takes the rows of a part of a picture as they are decoded: the resizer, or what stands
/// before it where a transform asks for more. Each wraps the next.
///
/// Not thread-safe: they live for one picture and borrow the memory that they work in.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headrace/decode/colour_profile.h"
#include "headrace/decode/jpeg/region.h"
#include "headrace/decode/metadata.h"
#include "headrace/decode/resize.h"

namespace headrace {

/// Rows top to bottom, in either form.
class PartRows : public jpeg::PlaneRows {
 public:
  /// Interleaved RGB. Valid during the call.
  virtual void rgb_row(const std::uint8_t* rgb) = 0;
  /// What came so far means nothing: the first row comes again.
  virtual void restart() = 0;
  /// All rows have come.
  virtual void finish() {}
};

class ResizeRows : public PartRows {
 public:
  explicit ResizeRows(Resizer& resizer) : resizer_(resizer) {}
  void row(const std::array<const std::uint8_t*, 3>& planes) override { resizer_.add(planes); }
  void rgb_row(const std::uint8_t* rgb) override { resizer_.add(rgb); }
  void restart() override { resizer_.restart(); }

 private:
  Resizer& resizer_;
};

/// Follows a profile that was chosen. `line` is memory to work in.
class ProfileRows : public PartRows {
 public:
  ProfileRows(const ColourProfile& profile, std::uint32_t width, std::vector<std::uint8_t>& line,
              PartRows& next)
      : profile_(profile), width_(width), line_(line), next_(next) {
    line_.resize(std::size_t{width} * 3);
  }
  void row(const std::array<const std::uint8_t*, 3>& planes) override;
  void rgb_row(const std::uint8_t* rgb) override;
  void restart() override { next_.restart(); }
  void finish() override { next_.finish(); }

 private:
  void pass_on();

  const ColourProfile& profile_;
  std::uint32_t width_;
  std::vector<std::uint8_t>& line_;
  PartRows& next_;
};

/// Holds the whole part and gives it out turned. `memory` is what it works in.
class TurnedRows : public PartRows {
 public:
  /// `width` and `height` of the part as it is stored.
  TurnedRows(unsigned orientation, std::uint32_t width, std::uint32_t height,
             std::vector<std::uint8_t>& memory, PartRows& next);
  void row(const std::array<const std::uint8_t*, 3>& planes) override;
  void rgb_row(const std::uint8_t* rgb) override;
  void restart() override { held_ = 0; }
  void finish() override;

 private:
  unsigned orientation_;
  std::uint32_t width_, height_;
  std::uint32_t held_ = 0;  ///< rows
  std::vector<std::uint8_t>& memory_;
  PartRows& next_;
};

}  // namespace headrace
