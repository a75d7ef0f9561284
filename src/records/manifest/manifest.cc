// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/records/containers.h"
#include "headrace/records/find_objects.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/list/list.h"
#include "headrace/records/listing.h"
#include "headrace/records/manifest/array.h"
#include "headrace/records/manifest/lines.h"
#include "headrace/records/manifest/listed_store.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

/// A set that was opened below a folder of the store, seen from the store's root.
class Placed final : public Dataset {
 public:
  Placed(std::unique_ptr<Store> view, std::string folder, std::unique_ptr<Dataset> set)
      : view_(std::move(view)), folder_(std::move(folder)), set_(std::move(set)) {}

  std::string format() const override { return set_->format(); }
  std::uint64_t size() const override { return set_->size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return set_->frame_bytes(id); }
  Extent locate(SampleId id) const override {
    Extent extent = set_->locate(id);
    // What was unpacked is known to its own store by the keys of the view.
    if (set_->frame_store() == nullptr) extent.key = folder_ + extent.key;
    return extent;
  }
  ByteRange stream_range(SampleId id) const override { return set_->stream_range(id); }
  Store* frame_store() const override { return set_->frame_store(); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    return set_->parse(id, frame);
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const override {
    return set_->raw(id, frame);
  }
  std::string name(SampleId id) const override { return folder_ + set_->name(id); }
  std::string file(SampleId id, const Bytes& frame) const override { return set_->file(id, frame); }
  std::optional<float> label(SampleId id) const override { return set_->label(id); }
  const std::vector<std::string>& classes() const override { return set_->classes(); }
  Hash128 fingerprint() const override { return set_->fingerprint(); }
  std::string index_source() const override { return set_->index_source(); }
  std::vector<PlacedDamage> damage() const override {
    auto damage = set_->damage();
    for (PlacedDamage& one : damage) one.key = folder_ + one.key;
    return damage;
  }

 private:
  const std::unique_ptr<Store> view_;
  const std::string folder_;
  const std::unique_ptr<Dataset> set_;
};

std::string place_of(const std::string& name, std::uint64_t line) {
  return fmt::format("{}, line {}", name, line);
}

Result<std::string> read_text(Store& store, const ObjectInfo& object, const std::stop_token& stop) {
  HEADRACE_TRY(const auto read,
               read_now(store, {.key = object.key, .pin = object.pin, .stop = stop}));
  return std::string(read.bytes.text());
}

}  // namespace

bool is_manifest(ByteSpan first_bytes) {
  const std::string_view text = as_text(first_bytes);
  if (manifest::is_array(text)) return true;
  // The first line may be longer than what is there.
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("-ref\"") != std::string_view::npos;
}

ContainerKind manifest_kind() {
  return {.what = "manifest", .suffixes = {".manifest"}, .begins = is_manifest, .marker = {}};
}

Result<std::unique_ptr<Dataset>> open_array_manifest(Store& store, const Context& context,
                                                     const OpenOptions& options,
                                                     const std::string& name,
                                                     std::string_view text) {
  auto parsed = manifest::parse_array(text);
  if (!parsed) return std::move(parsed).error().at(name);
  if (parsed->names.empty()) return Error(Code::not_found, "the manifest names no object").at(name);
  const manifest::Root root(options.list_root.empty() ? store.describe() : options.list_root);
  std::vector<std::string> keys;
  for (const manifest::Named& one : parsed->names) {
    auto key = root.key_of(parsed->prefix + one.name);
    if (!key) return std::move(key).error().at(place_of(name, one.line));
    keys.push_back(*std::move(key));
  }
  // The prefix may end within a name.
  const std::string& first = keys.front();
  const std::size_t own = parsed->prefix.size() - (parsed->prefix.rfind('/') + 1);
  const std::string folder =
      first.substr(0, first.size() - std::min(first.size(), parsed->names[0].name.size() + own));
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  HEADRACE_TRY(const auto found, find_objects(
                                     store, sorted.size(),
                                     [&sorted](std::size_t i) { return sorted[i]; }, options.stop));
  HEADRACE_TRY(auto listed, ObjectIndexBuilder::make());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto ordinal = found.find(keys[i]);
    if (!ordinal) {
      return Error(Code::not_found, "no such object")
          .at(object_place(store.describe(), keys[i]))
          .at(place_of(name, parsed->names[i].line));
    }
    HEADRACE_TRY(listed.add({.key = keys[i].substr(folder.size()),
                             .size = found.bytes(*ordinal),
                             .pin = found.pin(*ordinal),
                             .archived = false}));
  }
  HEADRACE_TRY(ObjectIndex objects, listed.finish());
  if (const auto twice = listed.dropped(); twice != 0) {
    context.notices->add("listed-twice",
                         fmt::format("{} names {} objects more than once", name, twice));
  }
  auto view = manifest::make_listed_store(store, folder, std::move(objects));
  OpenOptions inside = options;
  inside.list.clear();
  if (inside.format == "manifest") inside.format = "auto";
  HEADRACE_TRY(auto set, open_dataset(*view, context, inside));
  return std::make_unique<Placed>(std::move(view), folder, std::move(set));
}

Result<std::unique_ptr<Dataset>> open_manifest(Store& store, const Context& context,
                                               const OpenOptions& options) {
  std::vector<ObjectInfo> manifests;
  const auto take = [&](std::span<const ObjectInfo> page) -> Result<void> {
    for (const ObjectInfo& object : page) {
      if (!is_sample_key(object.key) || object.archived) continue;
      HEADRACE_TRY(const auto head, first_bytes(store, object, options.stop));
      if (manifest_kind().has_suffix(object.key) || is_manifest(head.span()))
        manifests.push_back(object);
    }
    return {};
  };
  HEADRACE_TRY(find_folders(store, "", options.stop, take));
  std::ranges::sort(manifests, {}, &ObjectInfo::key);
  if (manifests.empty())
    return Error(Code::not_found, fmt::format("no manifest in {}", store.describe()),
                 "name the folder in which one stands, or the manifest itself");
  HEADRACE_TRY(const auto head, first_bytes(store, manifests.front(), options.stop));
  if (!manifest::is_array(head.text())) return open_lists(store, context, options, manifests);
  if (manifests.size() > 1) {
    return Error(Code::invalid,
                 fmt::format(R"({} manifests, such as "{}" and "{}")", manifests.size(),
                             manifests[0].key, manifests[1].key),
                 "name one of them")
        .at(store.describe());
  }
  HEADRACE_TRY(const auto text, read_text(store, manifests.front(), options.stop));
  return open_array_manifest(store, context, options, manifests.front().key, text);
}

}  // namespace headrace
