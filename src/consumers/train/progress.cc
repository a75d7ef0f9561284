// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/base/json_count.h"

namespace headrace {
namespace {

using nlohmann::json;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double mean_loss(const Marks& marks) {
  return marks.samples == 0 ? 0.0 : marks.loss_sum / static_cast<double>(marks.samples);
}

json marks_to_json(const Marks& marks) {
  return {{"loss_sum", marks.loss_sum}, {"correct", marks.correct}, {"samples", marks.samples}};
}

Marks marks_from_json(const json& from) {
  Marks marks;
  from.at("loss_sum").get_to(marks.loss_sum);
  marks.correct = json_count(from.at("correct"));
  marks.samples = json_count(from.at("samples"));
  return marks;
}

/// Throws nlohmann's exceptions.
EpochRecord record_from_json(const json& from) {
  EpochRecord record;
  record.epoch = json_count(from.at("epoch"));
  record.train = marks_from_json(from.at("train"));
  from.at("seconds").get_to(record.seconds);
  if (from.contains("losses")) from.at("losses").get_to(record.losses);
  from.at("order_digest").get_to(record.order_digest);
  from.at("set_digest").get_to(record.set_digest);
  if (from.contains("validation")) record.validation = marks_from_json(from.at("validation"));
  return record;
}

}  // namespace

double EpochRecord::train_loss() const { return mean_loss(train); }
double EpochRecord::train_accuracy() const { return share(train.correct, train.samples); }
double EpochRecord::samples_per_second() const {
  return seconds > 0 ? static_cast<double>(train.samples) / seconds : 0.0;
}
std::optional<double> EpochRecord::validation_accuracy() const {
  if (!validation) return std::nullopt;
  return share(validation->correct, validation->samples);
}

std::optional<double> Progress::best_accuracy() const {
  std::optional<double> best;
  for (const auto& record : done) best = std::max(best, record.validation_accuracy());
  return best;
}

json to_json(const EpochRecord& record) {
  json out{{"epoch", record.epoch},
           {"train", marks_to_json(record.train)},
           {"train_loss", record.train_loss()},
           {"train_accuracy", record.train_accuracy()},
           {"validation_loss", nullptr},
           {"validation_accuracy", nullptr},
           {"seconds", record.seconds},
           {"samples_per_second", record.samples_per_second()},
           {"order_digest", record.order_digest},
           {"set_digest", record.set_digest}};
  if (!record.losses.empty()) out["losses"] = record.losses;
  if (record.validation) {
    out["validation"] = marks_to_json(*record.validation);
    out["validation_loss"] = mean_loss(*record.validation);
    out["validation_accuracy"] = *record.validation_accuracy();
  }
  return out;
}

json to_json(const Progress& progress) {
  json done = json::array();
  for (const auto& record : progress.done) done.push_back(to_json(record));
  return {{"done", done}, {"current", to_json(progress.current)}, {"validate", progress.validate}};
}

Result<Progress> parse_progress(const json& from) {
  Progress progress;
  try {
    for (const auto& record : from.at("done")) progress.done.push_back(record_from_json(record));
    progress.current = record_from_json(from.at("current"));
    from.at("validate").get_to(progress.validate);
  } catch (const json::exception& problem) {
    return Error(Code::corrupt, fmt::format("the checkpoint's progress: {}", problem.what()));
  }
  return progress;
}

}  // namespace headrace
