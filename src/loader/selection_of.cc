// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/selection_of.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "headrace/base/parse_number.h"
#include "headrace/base/unique_fd.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/joined/joined.h"
#include "headrace/records/lines.h"

namespace headrace {
namespace {

class ClassWeights {
 public:
  static Result<ClassWeights> make(const Dataset& dataset, const SelectionOptions& options) {
    ClassWeights weights(dataset);
    const auto& names = dataset.classes();
    for (const auto& [name, weight] : options.class_weights) {
      const auto named = std::ranges::find(names, name);
      std::optional<double> label = static_cast<double>(named - names.begin());
      if (named == names.end()) label = parse_number<double>(name);
      const bool known = label && (names.empty() || *label < static_cast<double>(names.size()));
      if (!known) {
        return Error(Code::invalid, fmt::format("class weights: no class \"{}\"", name),
                     names.empty() ? "the set has no class names: give numbers"
                                   : fmt::format("the set's first class is \"{}\"", names[0]));
      }
      weights.of_label_[static_cast<float>(*label)] = weight;
    }
    return weights;
  }

  Result<double> of(std::uint64_t sample) const {
    if (of_label_.empty()) return 1.0;
    const auto label = dataset_->label(SampleId{sample});
    if (!label) {
      return Error(Code::invalid,
                   fmt::format("class weights: the label of sample {} is not known before it is "
                               "read",
                               sample),
                   "weigh classes of labelled folders or a list, or give weights of samples");
    }
    const auto found = of_label_.find(*label);
    return found == of_label_.end() ? 1.0 : found->second;
  }

 private:
  explicit ClassWeights(const Dataset& dataset) : dataset_(&dataset) {}

  const Dataset* dataset_;
  std::map<float, double> of_label_;
};

/// The lines of a file of weights, which are asked for in their order.
class SampleWeights {
 public:
  static Result<SampleWeights> open(const std::string& path, const std::stop_token& stop) {
    SampleWeights weights(path);
    if (path.empty()) return weights;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return errno_error(errno, "open the weights").at(path);
    weights.source_ = make_fd_source(std::move(fd), path, stop);
    weights.lines_ = std::make_unique<LineReader>(*weights.source_);
    return weights;
  }

  Result<double> next(std::uint64_t samples) {
    if (!lines_) return 1.0;
    HEADRACE_TRY(const auto line, lines_->next());
    if (!line) return wrong_count(lines_->number(), samples);
    const auto weight = parse_number<double>(*line);
    if (weight) return *weight;
    return Error(Code::invalid, fmt::format("'{}' is no weight", *line), "one number a line")
        .at(fmt::format("{}:{}", path_, lines_->number()));
  }

  /// Once all samples had theirs.
  Result<void> end(std::uint64_t samples) {
    if (!lines_) return {};
    HEADRACE_TRY(const auto line, lines_->next());
    if (!line) return {};
    return Error(Code::invalid, fmt::format("more weights than the {} samples", samples),
                 "one line for each sample, in canonical order")
        .at(path_);
  }

 private:
  explicit SampleWeights(std::string path) : path_(std::move(path)) {}

  Error wrong_count(std::uint64_t lines, std::uint64_t samples) const {
    return Error(Code::invalid, fmt::format("{} weights for {} samples", lines, samples),
                 "one line for each sample, in canonical order")
        .at(path_);
  }

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<LineReader> lines_;
};

}  // namespace

Result<std::pair<std::string, double>> parse_class_weight(std::string_view text) {
  const auto equal = text.rfind('=');
  if (equal != std::string_view::npos && equal != 0) {
    if (const auto weight = parse_number<double>(text.substr(equal + 1)))
      return std::pair(std::string(text.substr(0, equal)), *weight);
  }
  return Error(Code::invalid, fmt::format("'{}' is no weight of a class", text),
               "say it as CLASS=2.5");
}

Result<std::unique_ptr<const Selection>> selection_of(const Dataset& dataset,
                                                      const SelectionOptions& options,
                                                      const Shuffle& shuffle,
                                                      const std::stop_token& stop) {
  if (!options.given()) return nullptr;
  HEADRACE_TRY(check_selectable(shuffle));
  HEADRACE_TRY(const auto classes, ClassWeights::make(dataset, options));
  HEADRACE_TRY(auto samples, SampleWeights::open(options.sample_weights, stop));
  Selection::WeightOf weight_of;
  if (!options.class_weights.empty() || !options.sample_weights.empty()) {
    weight_of = [&](std::uint64_t sample) -> Result<double> {
      HEADRACE_TRY(const double of_sample, samples.next(dataset.size()));
      HEADRACE_TRY(const double of_class, classes.of(sample));
      return of_sample * of_class;
    };
  }
  HEADRACE_TRY(auto selection,
               Selection::make(options.proportions, member_sizes(dataset), weight_of));
  HEADRACE_TRY(samples.end(dataset.size()));
  return std::make_unique<const Selection>(std::move(selection));
}

}  // namespace headrace
