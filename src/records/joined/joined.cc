// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/joined/joined.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"

namespace headrace {
namespace {

class JoinedSet final : public Dataset {
 public:
  struct Part {
    SetToJoin of;
    ClassLabels labels;
    std::uint64_t end = 0;  ///< of its samples
  };

  JoinedSet(std::vector<Part> parts, std::vector<std::string> classes)
      : parts_(std::move(parts)), classes_(std::move(classes)) {
    std::string text = classes_to_text(classes_);
    for (const Part& part : parts_) text += part.of.set->fingerprint().to_hex();
    fingerprint_ = hash_bytes(as_byte_span(text));
  }

  std::string format() const override {
    return same([](const Dataset& set) { return set.format(); }, "joined");
  }
  std::string index_source() const override {
    return same([](const Dataset& set) { return set.index_source(); }, "mixed");
  }
  std::uint64_t size() const override { return parts_.empty() ? 0 : parts_.back().end; }
  std::uint64_t frame_bytes(SampleId id) const override {
    const Member at = member(id);
    return at.set.frame_bytes(at.id);
  }
  Extent locate(SampleId id) const override {
    const Member at = member(id);
    return at.set.locate(at.id);
  }
  ByteRange stream_range(SampleId id) const override {
    const Member at = member(id);
    return at.set.stream_range(at.id);
  }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    const Member at = member(id);
    auto sample = at.set.parse(at.id, frame);
    if (!sample) return std::move(sample).error().at(std::string(at.uri));
    auto mapped = part_of(id).labels.map(sample->labels);
    if (!mapped) return std::move(mapped).error().at(name(id));
    return sample;
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const override {
    const Member at = member(id);
    HEADRACE_TRY(auto record, at.set.raw(at.id, frame));
    HEADRACE_TRY(part_of(id).labels.map(record.labels));
    return record;
  }
  std::string name(SampleId id) const override {
    const Member at = member(id);
    return fmt::format("{}: {}", at.uri, at.set.name(at.id));
  }
  std::string file(SampleId id, const Bytes& frame) const override {
    const Member at = member(id);
    return at.set.file(at.id, frame);
  }
  std::optional<float> label(SampleId id) const override {
    const Member at = member(id);
    const auto own = at.set.label(at.id);
    if (!own) return own;
    std::vector<float> labels{*own};
    if (!part_of(id).labels.map(labels)) return std::nullopt;
    return labels[0];
  }
  const std::vector<std::string>& classes() const override { return classes_; }
  Hash128 fingerprint() const override { return fingerprint_; }
  std::vector<PlacedDamage> damage() const override {
    std::vector<PlacedDamage> all;
    for (const Part& part : parts_) {
      for (PlacedDamage& damage : part.of.set->damage()) {
        damage.key = fmt::format("{}: {}", part.of.uri, damage.key);
        all.push_back(std::move(damage));
      }
    }
    return all;
  }
  Member member(SampleId id) const {
    const Part& part = part_of(id);
    const std::uint64_t begin = part.end - part.of.set->size();
    return {static_cast<std::size_t>(&part - parts_.data()), *part.of.set,
            SampleId{static_cast<std::uint64_t>(id) - begin}, part.of.uri};
  }
  std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> all;
    for (const Part& part : parts_) all.push_back(part.of.set->size());
    return all;
  }

 private:
  const Part& part_of(SampleId id) const {
    return *std::ranges::upper_bound(parts_, static_cast<std::uint64_t>(id), {}, &Part::end);
  }

  template <class Of>
  std::string same(const Of& of, std::string_view otherwise) const {
    std::string word = of(*parts_.front().of.set);
    for (const Part& part : parts_)
      if (of(*part.of.set) != word) return std::string(otherwise);
    return word;
  }

  const std::vector<Part> parts_;
  const std::vector<std::string> classes_;
  Hash128 fingerprint_;
};

/// Byte-sorted names of all sets; empty if none has names.
Result<std::vector<std::string>> names_of_all(std::span<const SetToJoin> sets) {
  std::vector<std::string> names;
  const SetToJoin* named = nullptr;
  const SetToJoin* numbered = nullptr;
  for (const SetToJoin& one : sets) {
    const auto& own = one.set->classes();
    (own.empty() ? numbered : named) = &one;
    names.insert(names.end(), own.begin(), own.end());
  }
  if (named != nullptr && numbered != nullptr) {
    return Error(Code::invalid,
                 fmt::format("{} has class names and {} only numbers: which is which is not known",
                             named->uri, numbered->uri),
                 fmt::format("put a classes.txt beside {}, a name a line", numbered->uri));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

Result<std::unique_ptr<Dataset>> join_sets(std::span<const SetToJoin> sets) {
  HEADRACE_TRY(auto names, names_of_all(sets));
  // A list that a training set gave keeps its order.
  const bool alike = std::ranges::all_of(
      sets, [&](const SetToJoin& one) { return one.set->classes() == sets[0].set->classes(); });
  if (alike && !sets.empty()) names = sets[0].set->classes();
  std::vector<JoinedSet::Part> parts;
  std::uint64_t end = 0;
  for (const SetToJoin& one : sets) {
    Notices lacking;  // that a set lacks a class of another one is no news
    HEADRACE_TRY(auto labels, ClassLabels::make(one.set->classes(), names, lacking));
    end += one.set->size();
    parts.push_back({one, std::move(labels), end});
  }
  return std::unique_ptr<Dataset>(std::make_unique<JoinedSet>(std::move(parts), std::move(names)));
}

Member member_of(const Dataset& set, SampleId id) {
  const auto* const joined = dynamic_cast<const JoinedSet*>(&set);
  return joined == nullptr ? Member{0, set, id, {}} : joined->member(id);
}

std::vector<std::uint64_t> member_sizes(const Dataset& set) {
  const auto* const joined = dynamic_cast<const JoinedSet*>(&set);
  return joined == nullptr ? std::vector{set.size()} : joined->sizes();
}

}  // namespace headrace
