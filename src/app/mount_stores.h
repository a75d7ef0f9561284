// SPDX-License-Identifier: Apache-2.0
/// \file The stores that stand under `headrace mount`, each on the one before it: the origin, as
/// slow as a medium, the node cache, the inside of the set.
///
/// Example: cmd_mount.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/base/uri.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace::app {

/// As typed.
struct MountSource {
  std::string uri;
  std::string medium;
  double scale = 1;
  bool keep = false;
  std::string keep_dir;
  std::uint64_t keep_bytes = 0;
  bool inside = false;  ///< show the samples of the set, not its files
  OpenOptions open;     ///< of the set
  std::string on_bad = "error";
};

class MountStores {
 public:
  static Result<MountStores> open(const MountSource& source, const Uri& uri, const Context& context,
                                  const std::stop_token& stop);
  MountStores(MountStores&&) = default;
  MountStores& operator=(MountStores&&) = delete;
  MountStores(const MountStores&) = delete;
  MountStores& operator=(const MountStores&) = delete;
  ~MountStores();

  Store& top() const { return inside_ ? *inside_ : *stores_.back(); }

 private:
  MountStores() = default;

  std::vector<std::unique_ptr<Store>> stores_;
  std::unique_ptr<Dataset> set_;
  std::unique_ptr<Store> inside_;
};

}  // namespace headrace::app
