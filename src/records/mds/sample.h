// SPDX-License-Identifier: Apache-2.0
/// \file One sample of an MDS shard: its columns; and which of them are its picture and its label.
///
/// Pure functions. Values share the frame's block.
#pragma once

#include <span>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/mds/index.h"

namespace headrace::mds {

/// The value of each column. `corrupt` if sizes and frame do not agree.
Result<std::vector<Bytes>> split(std::span<const Column> columns, const Bytes& frame);

/// Which column holds the encoded picture: the only one of encoding jpeg or png; else of bytes,
/// called image, jpg, jpeg, png, webp, img or picture; else the only one of bytes.
///  * `corrupt`   none does: there is none, several, or raw pixels (pil)
Result<std::size_t> picture_column(std::span<const Column> columns);

/// Which column holds the label: one called label, labels, cls, class, class_id, target or y; else
/// the only number.
Result<std::size_t> label_column(std::span<const Column> columns);

/// A number, or all of an `ndarray` whose type and shape stand in its encoding.
///  * `corrupt`   the encoding is none that holds numbers, or the text is none
Result<std::vector<float>> numbers(const Column& column, ByteSpan value);

}  // namespace headrace::mds
