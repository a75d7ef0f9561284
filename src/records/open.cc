// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/dataset.h"

#include "headrace/records/folder/folder.h"

namespace headrace {

Result<std::unique_ptr<Dataset>> open_dataset(Store& store, const Context& context,
                                              const OpenOptions& options) {
  if (options.format == "auto" || options.format == "folder")
    return open_folder(store, context, options);
  return Error(Code::invalid, "unknown format: " + options.format, "formats: auto, folder");
}

}  // namespace headrace
