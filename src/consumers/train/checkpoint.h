// SPDX-License-Identifier: Apache-2.0
/// \file A checkpoint file: what the job was and where it stood, and the model's archive. Bytes
/// as in CHECKPOINT.md.
///
/// Values and functions without state. A file is replaced in one step: after a kill at any moment
/// it is either the old one or the new one, whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

struct Checkpoint {
  std::string meta;     ///< one line of JSON
  std::string archive;  ///< Learner::save

  /// REQUIRES: meta has no line end
  std::string to_bytes() const;
  /// `corrupt` unless every byte is as it was written.
  static Result<Checkpoint> parse(std::string_view bytes);
};

/// Written beside, synced, renamed; the directory is made if it is missing.
Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Nothing if there is no such file.
Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path);

}  // namespace headrace
