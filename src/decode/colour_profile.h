// SPDX-License-Identifier: Apache-2.0
/// \file Embedded colour profiles, followed to sRGB by Little CMS: perceptual intent, 8 bits a
/// channel, as Pillow's ImageCms.profileToProfile.
///
/// Not thread-safe: one a thread. The last profile's tables are kept: pictures of one camera share
/// one, so that steady state builds none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headrace/base/bytes.h"

namespace headrace {

class ColourProfile {
 public:
  ColourProfile();
  ColourProfile(const ColourProfile&) = delete;
  ColourProfile& operator=(const ColourProfile&) = delete;
  ~ColourProfile();

  /// Chooses the profile. Empty if it can be followed, else why its pictures stay as they are: it
  /// is damaged, or not one of RGB (pixels are RGB by then).
  std::string use(ByteSpan profile);

  /// RGB in place. REQUIRES: `use` said nothing
  void to_srgb(std::uint8_t* rgb, std::size_t pixels) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
