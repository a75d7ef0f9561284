// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "headrace/records/folder/folder.h"
#include "headrace/records/folder/writer.h"
#include "headrace/records/manifest/manifest.h"
#include "headrace/records/manifest/writer.h"
#include "headrace/records/mds/mds.h"
#include "headrace/records/mds/writer.h"
#include "headrace/records/protobuf/protobuf.h"
#include "headrace/records/protobuf/writer.h"
#include "headrace/records/recordio/recordio.h"
#include "headrace/records/recordio/writer.h"
#include "headrace/records/tar/tar.h"
#include "headrace/records/tar/writer.h"
#include "headrace/records/tfrecord/tfrecord.h"
#include "headrace/records/tfrecord/writer.h"

namespace headrace {

std::span<const Format> formats() {
  static const std::array<Format, 7> kFormats = {{
      {.name = "tfrecord",
       .kind = tfrecord_kind(),
       .open = open_tfrecord,
       .writer = &tfrecord::writer_kind()},
      {.name = "protobuf",
       .kind = protobuf_kind(),
       .open = open_protobuf,
       .writer = &protobuf::writer_kind()},
      {.name = "recordio",
       .kind = recordio_kind(),
       .open = open_recordio,
       .writer = &recordio::writer_kind()},
      {.name = "tar", .kind = tar_kind(), .open = open_tar, .writer = &tar::writer_kind()},
      {.name = "mds", .kind = mds_kind(), .open = open_mds, .writer = &mds::writer_kind()},
      {.name = "manifest",
       .kind = manifest_kind(),
       .open = open_manifest,
       .writer = &manifest::writer_kind()},
      {.name = "folder",
       .kind = {.what = "labelled folder"},
       .open = open_folder,
       .writer = &folder_writer_kind()},
  }};
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &Format::name);
  return found == formats().end() ? nullptr : &*found;
}

std::string format_names(bool written) {
  std::vector<std::string_view> names;
  for (const Format& format : formats())
    if (!written || format.writer != nullptr) names.push_back(format.name);
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace headrace
