// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/class_table.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace headrace {

Result<ClassTable> ClassTable::make(
    std::uint64_t samples,
    const std::function<std::optional<float>(std::uint64_t sample)>& label_of) {
  if (samples == 0) return Error(Code::invalid, "no sample to draw by class");
  HEADRACE_TRY(auto by_class, MappedArray<std::uint64_t>::make());
  std::map<float, std::uint64_t> next;  // first how many a label has, then where the next goes
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const auto label = label_of(sample);
    if (!label) {
      return Error(Code::invalid,
                   fmt::format("the label of sample {} is not known before it is read", sample),
                   "draw by class from labelled folders or a list, or use shuffle global");
    }
    ++next[*label];
    HEADRACE_TRY(by_class.append(sample));  // makes room
  }
  ClassTable table(std::move(by_class));
  std::uint64_t begin = 0;
  for (auto& [label, place] : next) {
    table.begins_.push_back(begin);
    begin += std::exchange(place, begin);
  }
  table.begins_.push_back(begin);
  const auto places = table.by_class_.span();
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    places[next[*label_of(sample)]++] = sample;
  return table;
}

}  // namespace headrace
