// SPDX-License-Identifier: Apache-2.0
/// \file Which samples each class has: what drawing by class needs. 8 bytes a sample, in memory
/// that the kernel can take back.
///
/// Thread-safe once made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"

namespace headrace {

class ClassTable {
 public:
  /// A class is what has one label; classes are in the order of their labels. `label_of` is called
  /// twice for each sample.
  ///  * `invalid`   a sample whose label is not known, or no sample at all
  static Result<ClassTable> make(
      std::uint64_t samples,
      const std::function<std::optional<float>(std::uint64_t sample)>& label_of);

  std::uint64_t classes() const { return begins_.size() - 1; }
  /// At least 1.
  std::uint64_t count(std::uint64_t number) const { return begins_[number + 1] - begins_[number]; }
  /// The i-th sample of a class, in canonical order.
  std::uint64_t sample(std::uint64_t number, std::uint64_t i) const {
    return by_class_[begins_[number] + i];
  }

 private:
  explicit ClassTable(MappedArray<std::uint64_t> by_class) : by_class_(std::move(by_class)) {}

  std::vector<std::uint64_t> begins_;  ///< of each class in by_class_, and the end
  MappedArray<std::uint64_t> by_class_;
};

}  // namespace headrace
