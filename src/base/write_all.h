// SPDX-License-Identifier: Apache-2.0
/// \file Writes to a descriptor that go on after an interruption or a part. Thread-safe.
#pragma once

#include "headrace/base/bytes.h"

namespace headrace {

/// 0, or errno; `bytes` is what was not written then.
int write_all(int fd, ByteSpan& bytes);

}  // namespace headrace
