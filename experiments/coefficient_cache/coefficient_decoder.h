// SPDX-License-Identifier: Apache-2.0
/// \file A sample from the stored coefficients: what Decoder::decode_into makes from the JPEG.
///
/// Not thread-safe. Everything behind the coefficients is the shipped decoder's own code: its
/// RegionDecoder lays out, transforms, upsamples and emits; its Resizer and SampleWriter follow.
#pragma once

#include <memory>
#include <span>

#include "form.h"
#include "headrace/decode/transform.h"

namespace headrace::coefficients {

class CoefficientDecoder {
 public:
  CoefficientDecoder();
  CoefficientDecoder(const CoefficientDecoder&) = delete;
  CoefficientDecoder& operator=(const CoefficientDecoder&) = delete;
  ~CoefficientDecoder();

  void use_avx512(bool yes) { avx512_ = yes; }
  /// Expands only the first MCU row and takes it for all others: wrong pixels, and what a form
  /// that costs nothing to expand would take.
  void expand_one_row_only(bool yes) { one_row_only_ = yes; }

  /// False: the form is not one. REQUIRES: out.size() == transform.sample_bytes()
  bool decode_into(const Form& form, const Transform& transform, const SampleKey& key,
                   std::span<std::byte> out);
  /// Bytes of the form that the last sample read: headers, offsets, masks up to its last column,
  /// DC and values of its columns; and of the run from its first to its last MCU row.
  std::size_t bytes_touched() const { return touched_; }
  std::size_t bytes_of_rows() const { return rows_; }

 private:
  struct Impl;
  bool expand_row(const Form& form, std::uint32_t mcu_row, std::int16_t* out);

  std::unique_ptr<Impl> impl_;
  bool avx512_ = true, one_row_only_ = false;
  std::size_t touched_ = 0, rows_ = 0;
};

}  // namespace headrace::coefficients
