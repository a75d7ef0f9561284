// SPDX-License-Identifier: Apache-2.0
/// \file One shard on its way: its `.rec`, `.idx` and `.lst`, which appear together at the end.
///
/// Not thread-safe. Destroyed before `finish`: nothing appears.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/storage/store.h"

namespace headrace {

class ShardWriter {
 public:
  /// `stem` is the key without suffix.
  static Result<std::unique_ptr<ShardWriter>> open(Store& store, const std::string& stem,
                                                   const std::stop_token& stop);

  /// `id` becomes the image id and the key of index and list; `name` stands in the list.
  Result<void> add(std::uint64_t id, std::span<const float> labels, ByteSpan picture,
                   std::string_view name);
  /// \return bytes of the .rec
  Result<std::uint64_t> finish();

 private:
  ShardWriter() = default;
  Result<void> flush();

  std::unique_ptr<ObjectWriter> rec_;
  std::unique_ptr<ObjectWriter> idx_;
  std::unique_ptr<ObjectWriter> lst_;
  std::vector<std::byte> frames_;  ///< not yet handed over
  std::string idx_text_;
  std::string lst_text_;
  std::uint64_t offset_ = 0;  ///< bytes handed over
};

}  // namespace headrace
