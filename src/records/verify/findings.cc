// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/findings.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

namespace headrace::verifying {
namespace {

constexpr std::size_t kMaxLabels = 100'000;

/// The larger, the odder.
double oddness(const OddPicture& picture) {
  switch (picture.kind) {
    case OddPicture::Kind::smallest:
      return -static_cast<double>(picture.bytes);
    case OddPicture::Kind::largest:
      return static_cast<double>(picture.bytes);
    case OddPicture::Kind::stretched:
      break;
  }
  const auto [width, height] = picture.size;
  return static_cast<double>(std::max(width, height)) /
         static_cast<double>(std::max(1U, std::min(width, height)));
}

/// Sorts by kind and oddness, and keeps the first of each kind.
void keep_oddest(std::vector<OddPicture>& odd) {
  std::ranges::sort(odd, [](const OddPicture& a, const OddPicture& b) {
    return std::tuple(a.kind, -oddness(a), a.sample) < std::tuple(b.kind, -oddness(b), b.sample);
  });
  std::size_t of_kind = 0;
  const OddPicture* before = nullptr;
  std::vector<OddPicture> kept;
  for (const OddPicture& one : odd) {
    of_kind = before != nullptr && before->kind == one.kind ? of_kind + 1 : 0;
    if (of_kind < VerifyReport::kOdd) kept.push_back(one);
    before = &one;
  }
  odd = std::move(kept);
}

void add_label(std::map<float, std::uint64_t>& labels, float label, std::uint64_t count) {
  const auto known = labels.find(label);
  if (known != labels.end()) {
    known->second += count;
  } else if (labels.size() < kMaxLabels) {
    labels.emplace(label, count);
  }
}

}  // namespace

void Findings::add_bad(SampleId id, std::string why) {
  ++part_.samples;
  ++part_.bad;
  if (part_.first_bad.size() == VerifyReport::kListed) return;
  const Extent extent = set_.locate(id);
  part_.first_bad.push_back({.name = set_.name(id),
                             .sample = static_cast<std::uint64_t>(id),
                             .key = extent.key,
                             .begin = extent.range.offset,
                             .end = extent.range.offset + extent.range.length,
                             .why = std::move(why)});
}

void Findings::add_good(SampleId id, const Sample& sample, PictureSize size) {
  const std::uint64_t bytes = sample.payload.size();
  const Hash128 hash = hash_bytes(sample.payload.span());
  ++part_.samples;
  part_.smallest = part_.good == 0 ? bytes : std::min(part_.smallest, bytes);
  part_.largest = std::max(part_.largest, bytes);
  ++part_.good;
  part_.payload_bytes += bytes;
  const auto bin = static_cast<std::size_t>(std::bit_width(std::max<std::uint64_t>(bytes, 1)) - 1);
  ++part_.sizes[std::min(bin, part_.sizes.size() - 1)];
  part_.set_digest += set_term(sample.labels, hash);
  if (sample.labels.empty()) {
    ++part_.unlabelled;
  } else {
    add_label(part_.labels, sample.labels[0], 1);
  }
  add_odd(id, bytes, size);
  seen_.push_back({.payload = hash,
                   .sample = static_cast<std::uint64_t>(id),
                   .bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffffffU)),
                   .label = sample.labels.empty() ? 0 : sample.labels[0]});
}

void Findings::add_odd(SampleId id, std::uint64_t bytes, PictureSize size) {
  constexpr std::size_t kMost = std::size_t{64} * VerifyReport::kOdd;
  using Kind = OddPicture::Kind;
  for (const Kind kind : {Kind::smallest, Kind::largest, Kind::stretched}) {
    if (kind == Kind::stretched && size.width == 0) continue;
    part_.odd.push_back({.kind = kind,
                         .sample = static_cast<std::uint64_t>(id),
                         .name = {},
                         .bytes = bytes,
                         .size = size});
  }
  if (part_.odd.size() >= kMost) keep_oddest(part_.odd);
}

Result<Merger> Merger::make(const Dataset& set) {
  HEADRACE_TRY(auto seen, MappedArray<Seen>::make());
  return Merger(set, std::move(seen));
}

Result<void> Merger::add(Findings findings) {
  VerifyReport& part = findings.part_;
  if (part.good != 0)
    report_.smallest =
        report_.good == 0 ? part.smallest : std::min(report_.smallest, part.smallest);
  report_.largest = std::max(report_.largest, part.largest);
  report_.samples += part.samples;
  report_.good += part.good;
  report_.bad += part.bad;
  report_.unlabelled += part.unlabelled;
  report_.payload_bytes += part.payload_bytes;
  report_.set_digest += part.set_digest;
  for (std::size_t i = 0; i < part.sizes.size(); ++i) report_.sizes[i] += part.sizes[i];
  for (const auto& [kind, count] : part.kinds) report_.kinds[kind] += count;
  for (const auto& [label, count] : part.labels) add_label(report_.labels, label, count);
  std::ranges::move(part.odd, std::back_inserter(report_.odd));
  keep_oddest(report_.odd);
  std::ranges::move(part.first_bad, std::back_inserter(report_.first_bad));
  std::ranges::sort(report_.first_bad, {}, &BadSample::sample);
  if (report_.first_bad.size() > VerifyReport::kListed)
    report_.first_bad.resize(VerifyReport::kListed);
  return seen_.append(findings.seen_);
}

VerifyReport Merger::finish() {
  find_repeated();
  for (OddPicture& one : report_.odd) one.name = set_->name(SampleId{one.sample});
  const auto& classes = set_->classes();
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (!report_.labels.contains(static_cast<float>(i)))
      report_.empty_classes.push_back(classes[i]);
  return std::move(report_);
}

void Merger::find_repeated() {
  const auto seen = seen_.span();
  std::ranges::sort(seen, [](const Seen& a, const Seen& b) {
    return a.payload != b.payload ? a.payload < b.payload : a.sample < b.sample;
  });
  auto& groups = report_.first_repeated;
  for (std::size_t begin = 0; begin < seen.size();) {
    std::size_t end = begin + 1;
    while (end < seen.size() && seen[end].payload == seen[begin].payload) ++end;
    if (end - begin > 1) {
      report_.repeated += end - begin - 1;
      if (groups.size() < VerifyReport::kListed)
        groups.push_back(group(seen.subspan(begin, end - begin)));
    }
    begin = end;
  }
  std::ranges::stable_sort(groups, std::ranges::greater(), &SameContent::count);
}

SameContent Merger::group(std::span<const Seen> same) const {
  constexpr std::size_t kNames = 10;
  SameContent found{.bytes = same[0].bytes, .names = {}, .count = same.size()};
  for (const Seen& one : same) {
    found.labels_differ = found.labels_differ || one.label != same[0].label;
    if (found.names.size() < kNames) found.names.push_back(set_->name(SampleId{one.sample}));
  }
  return found;
}

}  // namespace headrace::verifying
