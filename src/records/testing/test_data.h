// SPDX-License-Identifier: Apache-2.0
/// \file Golden files, and sources that hand them over in pieces of any size.
#pragma once

#include <memory>
#include <string>

#include "headrace/base/bytes.h"
#include "headrace/records/byte_source.h"

namespace headrace::testing {

/// The whole file; fails the test if there is none.
Bytes read_file(const std::string& path);

/// Hands `bytes` over in pieces of `piece_bytes`; `sized` says whether it tells its end.
std::unique_ptr<ByteSource> make_piece_source(Bytes bytes, std::size_t piece_bytes,
                                              bool sized = false);

}  // namespace headrace::testing
