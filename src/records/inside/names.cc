// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/inside/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "headrace/records/folder/file_name.h"

namespace headrace {
namespace {

constexpr std::string_view kMagic = "HRNAMES1";
constexpr std::size_t kLongest = std::numeric_limits<std::uint16_t>::max();
/// Side stores take whole blocks of memory: of larger sets, names are found out each time.
constexpr std::uint64_t kMostKept = std::uint64_t{1} << 22U;
constexpr std::size_t kPacked = 3 * sizeof(std::uint64_t) + sizeof(std::uint16_t);

template <class T>
void append_number(std::vector<std::byte>& out, T number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
T number_at(ByteSpan bytes, std::size_t offset) {
  T number{};
  std::memcpy(&number, &bytes[offset], sizeof number);
  return number;
}

}  // namespace

Result<SampleNames> SampleNames::make() {
  SampleNames names;
  HEADRACE_TRY(names.entries_, MappedArray<Entry>::make());
  HEADRACE_TRY(names.names_, MappedArray<char>::make());
  return names;
}

Result<void> SampleNames::add(std::string_view name, const Place& place) {
  if (name.size() > kLongest)
    return Error(Code::invalid, "a name of more than 65,535 bytes").at(name.substr(0, 200));
  const auto length = static_cast<std::uint16_t>(name.size());
  char size[sizeof length];
  std::memcpy(size, &length, sizeof length);
  const std::uint64_t at = names_.size();
  HEADRACE_TRY(names_.append(std::span<const char>(size)));
  HEADRACE_TRY(names_.append(std::span(name.data(), name.size())));
  return entries_.append(Entry{.name_at = at, .place = place});
}

Result<void> SampleNames::finish() {
  const auto entries = entries_.span();
  const auto less = [this](const Entry& a, const Entry& b) { return name(a) < name(b); };
  if (!std::ranges::is_sorted(entries, less)) std::ranges::sort(entries, less);
  const auto same = std::ranges::adjacent_find(
      entries, [this](const Entry& a, const Entry& b) { return name(a) == name(b); });
  if (same == entries.end()) return {};
  return same_folder_file(name(*same));
}

std::string_view SampleNames::name(const Entry& entry) const {
  const char* at = &names_.span()[entry.name_at];
  std::uint16_t length = 0;
  std::memcpy(&length, at, sizeof length);
  return {at + sizeof length, length};
}

std::string_view SampleNames::key(std::uint64_t at) const { return name(entries_[at]); }

SampleNames::Place SampleNames::place(std::uint64_t at) const { return entries_[at].place; }

std::uint64_t SampleNames::lower_bound(std::string_view wanted) const {
  const auto entries = entries_.span();
  const auto found = std::ranges::lower_bound(entries, wanted, {},
                                              [this](const Entry& entry) { return name(entry); });
  return static_cast<std::uint64_t>(found - entries.begin());
}

std::optional<std::uint64_t> SampleNames::find(std::string_view wanted) const {
  const std::uint64_t at = lower_bound(wanted);
  if (at == size() || key(at) != wanted) return std::nullopt;
  return at;
}

std::vector<std::byte> SampleNames::to_bytes() const {
  std::vector<std::byte> out;
  out.reserve(kMagic.size() + sizeof(std::uint64_t) + size() * kPacked + names_.size());
  const ByteSpan magic = as_byte_span(kMagic);
  out.insert(out.end(), magic.begin(), magic.end());
  append_number(out, size());
  for (const Entry& entry : entries_.span()) {
    append_number(out, static_cast<std::uint64_t>(entry.place.id));
    append_number(out, entry.place.bytes);
    append_number(out, entry.place.offset);
    append_number(out, static_cast<std::uint16_t>(name(entry).size()));
  }
  for (const Entry& entry : entries_.span()) {
    const ByteSpan text = as_byte_span(name(entry));
    out.insert(out.end(), text.begin(), text.end());
  }
  return out;
}

Result<std::optional<SampleNames>> SampleNames::from_bytes(ByteSpan bytes, std::uint64_t samples) {
  constexpr std::size_t kHead = kMagic.size() + sizeof(std::uint64_t);
  const bool ours = bytes.size() >= kHead && as_text(bytes).starts_with(kMagic) &&
                    number_at<std::uint64_t>(bytes, kMagic.size()) == samples &&
                    samples <= (bytes.size() - kHead) / kPacked;
  if (!ours) return std::optional<SampleNames>();
  HEADRACE_TRY(auto names, make());
  std::string_view text = as_text(bytes).substr(kHead + samples * kPacked);
  std::string_view before;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::size_t at = kHead + i * kPacked;
    const Place place{.id = SampleId{number_at<std::uint64_t>(bytes, at)},
                      .bytes = number_at<std::uint64_t>(bytes, at + 8),
                      .offset = number_at<std::uint64_t>(bytes, at + 16)};
    const auto length = number_at<std::uint16_t>(bytes, at + 24);
    const std::string_view name = text.substr(0, length);
    const bool good = name.size() == length && static_cast<std::uint64_t>(place.id) < samples &&
                      (i == 0 || before < name);
    if (!good) return std::optional<SampleNames>();
    HEADRACE_TRY(names.add(name, place));
    text.remove_prefix(length);
    before = name;
  }
  return std::optional(std::move(names));
}

namespace {

/// Goes through a set and calls its samples by name.
class Namer {
 public:
  Namer(Store& store, const Dataset& set, const NamingOptions& options, const Context& context)
      : store_(store), set_(set), options_(options), context_(context) {}

  Result<SampleNames> run() {
    const SideKey key{.store = store_.describe(),
                      .object = {},
                      .pin = {.etag = set_.fingerprint().to_hex()},
                      .kind = "inside-names",
                      .version = 1};
    if (options_.side_store != nullptr) {
      const auto kept = options_.side_store->get(key);
      if (kept && *kept) {
        HEADRACE_TRY(auto names, SampleNames::from_bytes((*kept)->span(), set_.size()));
        if (names) return *std::move(names);
      }
    }
    HEADRACE_TRY(names_, SampleNames::make());
    HEADRACE_TRY(is_known() ? ask() : read());
    if (auto finished = names_.finish(); !finished) {
      return std::move(finished)
          .error()
          .at(store_.describe())
          .advise("a set whose names repeat cannot be shown as folders; read it as it is");
    }
    note_labels(*context_.notices, set_.classes(), labels_);
    if (options_.side_store != nullptr && hidden_ == 0 && names_.size() <= kMostKept)
      std::ignore = options_.side_store->put(key, names_.to_bytes());  // lost: found out again
    return std::move(names_);
  }

 private:
  /// Sets of whole objects know label and path of each without a look into it; containers do not.
  bool is_known() const {
    if (set_.size() == 0) return true;
    const Extent extent = set_.locate(SampleId{0});
    return extent.range.offset == 0 && extent.range.length == extent.pin.size &&
           set_.label(SampleId{0}).has_value() && !set_.file(SampleId{0}, {}).empty();
  }

  Result<void> ask() {
    for (std::uint64_t id = 0; id < set_.size(); ++id) {
      if (options_.stop.stop_requested()) return Error(Code::cancelled, "stopped");
      HEADRACE_TRY(const auto sample, set_.parse(SampleId{id}, {}));
      HEADRACE_TRY(add(id, sample,
                       {.id = SampleId{id}, .bytes = set_.frame_bytes(SampleId{id}), .offset = 0},
                       {}));
    }
    return {};
  }

  Result<void> read() {
    ReadAhead reader(store_, set_, options_.reading, options_.stop);
    while (const auto answer = reader.next()) {
      Bytes frame;
      const std::function<Result<Sample>(const Bytes&)> look = [&](const Bytes& bytes) {
        frame = bytes;
        return set_.parse(answer->id, bytes);
      };
      const auto sample = look_twice<Sample>(store_, set_, answer->id, answer->frame,
                                             *context_.notices, options_.stop, look);
      if (!sample) {
        HEADRACE_TRY(leave_out(answer->id, sample.error()));
        continue;
      }
      const Bytes& picture = sample->payload;
      // As a number: the picture may have been joined in a block of its own.
      const auto offset = static_cast<std::uint64_t>(picture.data() - frame.data());
      const bool framed = std::less_equal<>()(frame.data(), picture.data()) &&
                          offset <= frame.size() && picture.size() <= frame.size() - offset;
      HEADRACE_TRY(add(static_cast<std::uint64_t>(answer->id), *sample,
                       {.id = answer->id,
                        .bytes = picture.size(),
                        .offset = framed ? offset : SampleNames::kUnframed},
                       frame));
    }
    if (options_.stop.stop_requested()) return Error(Code::cancelled, "stopped");
    return {};
  }

  Result<void> add(std::uint64_t id, const Sample& sample, const SampleNames::Place& place,
                   const Bytes& frame) {
    const std::string file = set_.file(place.id, frame);
    auto named = folder_file(set_.classes(), {.id = id,
                                              .labels = sample.labels,
                                              .payload = sample.payload.span(),
                                              .name = {},
                                              .file = file});
    if (!named) return std::move(named).error().at(set_.name(place.id));
    if (*named < last_) note_order(*context_.notices, *named, last_);
    HEADRACE_TRY(names_.add(*named, place));
    last_ = *std::move(named);
    labels_.insert(static_cast<std::uint64_t>(sample.labels[0]));
    if (options_.progress != nullptr) {
      options_.progress->samples.fetch_add(1);
      options_.progress->bytes.fetch_add(place.bytes);
    }
    return {};
  }

  Result<void> leave_out(SampleId id, Error error) {
    const Code code = error.code();
    const bool bad = code == Code::corrupt || code == Code::not_found || code == Code::denied;
    error = std::move(error).at(set_.name(id));
    if (!bad || !options_.skip_bad) return error;
    ++hidden_;
    context_.notices->add("hidden-samples", error.to_string() + "; not shown");
    return {};
  }

  Store& store_;
  const Dataset& set_;
  const NamingOptions& options_;
  const Context& context_;
  SampleNames names_;
  std::string last_;
  std::set<std::uint64_t> labels_;
  std::uint64_t hidden_ = 0;
};

}  // namespace

Result<SampleNames> name_samples(Store& store, const Dataset& set, const NamingOptions& options,
                                 const Context& context) {
  return Namer(store, set, options, context).run();
}

}  // namespace headrace
