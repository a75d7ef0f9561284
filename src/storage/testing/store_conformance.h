// SPDX-License-Identifier: Apache-2.0
/// \file What every Store must pass; an implementation is done when it does.
///
/// A test file registers its world before main, and gets one test for each promise of store.h:
///
///     const bool registered = register_store_conformance(
///         {.name = "memory", .make = [](const Context&) { return make_memory_world(); }});
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "headrace/base/context.h"
#include "headrace/storage/store.h"

namespace headrace::testing {

struct StoreWorld {
  std::string name;
  /// A fresh and empty store at each call. What it stands on (a folder, a bucket) is kept by
  /// `keep_alive` of the answer, which goes after the store.
  struct Made {
    std::shared_ptr<void> keep_alive;
    std::unique_ptr<Store> store;
  };
  std::function<Made(const Context&)> make;
  // What the place below cannot do, however good the store is.
  bool any_slashes = true;        ///< keys as "a//b", "./a", "a/../b"
  bool backslashes = true;        ///< keys as "a\\b"
  bool folder_markers = true;     ///< keys that end in '/'; where not, they are `invalid`
  bool key_beside_folder = true;  ///< objects "a" and "a/b" together
  bool any_bytes = true;          ///< keys that are not UTF-8
  bool control_characters = true;
};

/// True, so that it can initialise a constant.
bool register_store_conformance(const StoreWorld& world);

}  // namespace headrace::testing
