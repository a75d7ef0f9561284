// SPDX-License-Identifier: Apache-2.0
/// \file One encoded picture becomes pixels: found by content, exact, with limits.
///
/// Not thread-safe: one Decoder a thread; it keeps handles and buffers, so that steady state
/// allocates nothing. A pure function of its arguments: equal bytes give equal pixels.
///
/// Pixels are libjpeg-turbo's accurate path on the whole picture (then crop), PNG by libspng,
/// WebP by libwebp, always to 8-bit RGB; rules for odd pictures in decode/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/decode/jpeg/needed.h"
#include "headrace/decode/transform.h"

namespace headrace {

enum class PictureFormat { unknown, jpeg, png, webp, gif, bmp, tiff, heif, jpeg2000 };

std::string_view to_string(PictureFormat format);
/// From the first bytes, never from a name.
PictureFormat sniff(ByteSpan bytes);

struct DecodeLimits {
  std::uint64_t pixels = 256U << 20U;
  std::uint32_t scans = 256;        ///< more are allowed while scans × pixels stay below `pixels`
  std::uint32_t warnings = 10'000;  ///< of one picture
  bool allow_truncated = false;     ///< JPEG: false: a cut picture is a bad sample
  bool library_only = false;        ///< JPEG: by libjpeg-turbo alone, to compare with
};

/// What is known of where decoding can begin inside a picture (jpeg/SEEK-INDEX.md), and whether to
/// find out. All spans are borrowed for the call.
struct SeekUse {
  /// Made by an earlier decode of the same bytes; empty: none at hand.
  ByteSpan index;
  /// Hash of the picture's bytes: an index that was made from others is not used.
  Hash128 payload;
  /// If given: becomes the picture's index, if none at hand fits and it can have one; else empty.
  std::vector<std::byte>* record = nullptr;
  /// Only these parts of the bytes are there (part_bytes.h): no others are looked at. What cannot
  /// be decoded from them, by `index`, is `unavailable`. Empty: all are.
  std::span<const jpeg::ByteRun> there{};
};

/// Of a JPEG that our own decoder takes: what part_bytes.h needs to know.
struct PictureOutline {
  jpeg::Outline jpeg;
  unsigned orientation = 1;  ///< that EXIF tells, followed or not
  bool operator==(const PictureOutline&) const = default;
};

struct PictureInfo {
  PictureFormat format = PictureFormat::unknown;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// 8-bit RGB, rows without padding; valid until the decoder's next call.
struct Pixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::span<const std::uint8_t> rgb;
  std::vector<std::string> warnings;  ///< what decoded all the same, a line each
};

class Decoder {
 public:
  explicit Decoder(const DecodeLimits& limits = {});
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder();

  /// Header only.
  Result<PictureInfo> inspect(ByteSpan encoded);
  /// The whole picture. Damage and unsupported formats are `corrupt`; limits are `exhausted`.
  Result<Pixels> decode(ByteSpan encoded);
  /// Decode, crop, resize, flip, convert: straight into `out`, of `transform.sample_bytes()`.
  /// With a seek index only what the crop needs is read, and the pixels are the same; damage
  /// elsewhere is not looked for again. An index that does not fit is as good as none.
  Result<void> decode_into(ByteSpan encoded, const Transform& transform, const SampleKey& key,
                           std::span<std::byte> out, const SeekUse* seek = nullptr);
  /// From now on: whether decode_into writes past the processor's caches (store.h). The bytes are
  /// the same, and there when it returns.
  void stream_samples(bool yes);
  /// Of the last decode_into: how many of the encoded bytes were read, the index included.
  std::size_t bytes_touched() const;
  /// Of the last decode_into, if that was of a JPEG for our own decoder. REQUIRES: its bytes stay
  std::optional<PictureOutline> outline() const;
  /// Of the last call: what decoded all the same, a line for each kind; empty as a rule.
  std::span<const std::string> warnings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
