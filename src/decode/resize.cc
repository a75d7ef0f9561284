// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/resize.h"

#include <algorithm>
#include <bit>

namespace headrace {

namespace {

PlanarRowOut planes_of(std::vector<std::uint8_t>& memory, std::size_t width) {
  const auto padded = padded_row(width);
  if (memory.size() < 3 * padded) memory.resize(3 * padded);
  return {memory.data(), memory.data() + padded, memory.data() + 2 * padded};
}

PlanarRow read_only(const PlanarRowOut& row) { return {row[0], row[1], row[2]}; }

/// Observed on Pillow 13.0.0 for every filter and size tried; see tests/tools.
bool vertical_first(const ResizeGoal& goal, std::uint32_t width, std::uint32_t height) {
  if (goal.order == PassOrder::pillow12 || goal.filter == Filter::nearest) return false;
  const auto shrinks = std::int64_t{height} - goal.height;
  return shrinks > 0 && shrinks > 2 * (std::int64_t{width} - goal.width);
}

}  // namespace

void Resizer::begin(std::uint32_t width, std::uint32_t height, const ResizeGoal& goal,
                    RowSink& sink) {
  const Box& window = goal.window;
  across_.fill(goal.filter, width, goal.width, window.left, window.width);
  if (goal.flip) across_.reverse();
  down_.fill(goal.filter, height, goal.height, window.top, window.height);
  needed_ = {across_.begin(), down_.begin(), across_.end(), down_.end()};
  needed_.width -= needed_.left;
  needed_.height -= needed_.top;
  for (auto& first : across_.first) first -= needed_.left;
  for (auto& first : down_.first) first -= needed_.top;
  plan_across(across_, across_plan_);
  sink_ = &sink;
  down_first_ = vertical_first(goal, width, height);
  restart();
  ring_rows_ = std::bit_ceil(*std::max_element(down_.count.begin(), down_.count.end()));
  ring_width_ = padded_row(down_first_ ? needed_.width : window.width);
  const std::size_t needed = ring_rows_ * ring_width_ * 3;
  if (ring_.size() < needed) ring_.resize(needed);
  taps_.resize(down_.taps);
}

void Resizer::restart() {
  next_in_ = 0;
  next_out_ = 0;
}

void Resizer::keep(const PlanarRow& row) {
  std::uint8_t* const at = ring_row(next_in_);
  const PlanarRowOut slot{at, at + ring_width_, at + 2 * ring_width_};
  if (down_first_) {
    for (std::size_t p = 0; p < 3; ++p) std::copy_n(row[p], needed_.width, slot[p]);
  } else {
    run_across(across_plan_, row, slot);
  }
}

void Resizer::emit(std::uint32_t y) {
  const std::uint32_t width = down_first_ ? needed_.width : across_.outputs();
  const auto sums = planes_of(down_first_ ? tall_ : result_, width);
  for (std::uint32_t t = 0; t < down_.taps; ++t) {
    const auto used = std::min(t, down_.count[y] - 1);  // the others weigh nothing
    taps_[t] = ring_row(down_.first[y] + used);
  }
  for (std::size_t p = 0; p < 3; ++p) {
    run_down(taps_.data(), down_.weights_of(y), down_.taps, width, sums[p]);
    for (auto& tap : taps_) tap += ring_width_;  // the next colour
  }
  if (!down_first_) return sink_->row(y, read_only(sums));
  const auto result = planes_of(result_, across_.outputs());
  run_across(across_plan_, read_only(sums), result);
  sink_->row(y, read_only(result));
}

void Resizer::add(const PlanarRow& row) {
  keep(row);
  ++next_in_;
  while (next_out_ < down_.outputs() &&
         down_.first[next_out_] + down_.count[next_out_] <= next_in_) {
    emit(next_out_++);
  }
}

void Resizer::add(const std::uint8_t* rgb) {
  const auto planes = planes_of(split_, needed_.width);
  split_rgb(rgb, needed_.width, planes);
  add(read_only(planes));
}

void Resizer::resize(const RgbView& source, const ResizeGoal& goal, RowSink& sink) {
  begin(source.width, source.height, goal, sink);
  const std::uint8_t* row =
      source.pixels + needed_.top * source.stride + std::size_t{needed_.left} * 3;
  for (std::uint32_t y = 0; y < needed_.height; ++y, row += source.stride) add(row);
}

}  // namespace headrace
