// SPDX-License-Identifier: Apache-2.0
/// \file Which vector unit the decoder's inner loops run on: for measurements and tests.
///
/// The choice is global: not to be changed while anything decodes. The pixels are the same on
/// every one.
#pragma once

#include <array>
#include <string_view>

namespace headrace {

enum class VectorUnit { best, avx2, plain };
inline constexpr std::array kVectorUnits{VectorUnit::best, VectorUnit::avx2, VectorUnit::plain};

/// False, and nothing changes, if the processor has no such unit.
bool use_vector_unit(VectorUnit unit);

/// Highway's name of the one in use: "AVX3_DL" is AVX-512 with VNNI and VBMI2.
std::string_view vector_unit_name();

}  // namespace headrace
