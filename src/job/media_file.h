// SPDX-License-Identifier: Apache-2.0
/// \file data/media.yaml: what each medium can do, with the source of every figure (MEDIA.md).
///
/// Values; pure functions of the file. Example:
///
///     HEADRACE_TRY(auto slow, shaped_as("ebs-gp3", 1, store, context, seed));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/base/result.h"
#include "headrace/storage/shaped/media.h"
#include "headrace/storage/store.h"

namespace headrace {

struct Figure {
  std::string name;  ///< as in the file, with dots: "first_byte_latency_ms.median"
  double value = 0;
  std::string source;
  bool verified = false;  ///< the vendor's own page states this value
  bool fitted = false;    ///< set so that a published result comes out
  std::string note;
};

struct MediumEntry {
  Medium medium;
  std::string about;
  std::string reference;        ///< the size that the figures hold for; may be empty
  std::vector<Figure> figures;  ///< everything that `medium` was made of
  std::vector<Figure> prices;   ///< US dollars: "storage_per_GB_month", "get_per_1000", …
};

struct MediaFile {
  std::string path;
  std::string date;  ///< "2026-11-30"
  std::vector<MediumEntry> media;

  /// `invalid` names the media there are. The pointer lives as long as this.
  Result<const MediumEntry*> find(std::string_view name) const;
};

/// A medium of the file, for a job that stands for one `scale` times as large.
Result<Medium> medium_for(std::string_view name, double scale);

/// `below` as slow as a medium of the file, for a job that stands for one `scale` times as large.
Result<std::unique_ptr<Store>> shaped_as(std::string_view medium, double scale, Store& below,
                                         const Context& context, std::uint64_t seed);

/// The file found by find_data_file("media.yaml").
Result<MediaFile> load_media();
/// A key that the schema does not know, a figure without a source or a negative one is `invalid`
/// and says where.
Result<MediaFile> load_media(const std::string& path);

}  // namespace headrace
