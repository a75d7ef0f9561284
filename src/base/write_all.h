// SPDX-License-Identifier: Apache-2.0
/// \file Writes to a descriptor that go on after an interruption or a part. Thread-safe.
#pragma once

#include <cstdint>

#include "headrace/base/bytes.h"

namespace headrace {

/// 0, or errno; `bytes` is what was not written then.
int write_all(int fd, ByteSpan& bytes);

/// The same from `offset` of a file on; `offset` is where `bytes` belong then.
int write_all_at(int fd, ByteSpan& bytes, std::uint64_t& offset);

}  // namespace headrace
