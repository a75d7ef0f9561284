// SPDX-License-Identifier: Apache-2.0
/// \file The names of the options that say how much an epoch has of each set, class and sample, and
/// what help says of them: one text for every command.
#pragma once

#include <array>
#include <string_view>

namespace headrace {

struct SelectionWord {
  std::string_view name;  ///< without "--"
  std::string_view value;
  std::string_view help;
};

namespace selection_words {

inline constexpr SelectionWord repeat{
    "repeat", "LIST", "How often each set comes in an epoch, a number a set: 1,0.5"};
inline constexpr SelectionWord shares{"shares", "LIST",
                                      "What of an epoch is of each set, a number a set: 0.7,0.3"};
inline constexpr SelectionWord epoch_samples{
    "epoch-samples", "N",
    "Length of an epoch, in samples (default: the sets', as often as they come)"};
inline constexpr SelectionWord class_weights{
    "class-weights", "LIST", "How often samples of a class come, against the others: CLASS=2.5,…"};
inline constexpr SelectionWord sample_weights{
    "sample-weights", "FILE", "File with a weight for each sample, one a line, in canonical order"};

}  // namespace selection_words
}  // namespace headrace
