// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/media_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headrace/base/data_file.h"
#include "headrace/storage/shaped/shaped_store.h"

namespace headrace {
namespace {

/// Where a figure of the file goes in a Medium.
struct Slot {
  std::string_view name;
  double* value;
};

std::vector<Slot> slots_of(Medium& m) {
  return {{"first_byte_latency_ms.median", &m.first_byte_median_ms},
          {"first_byte_latency_ms.p99", &m.first_byte_p99_ms},
          {"metadata_latency_ms", &m.metadata_ms},
          {"rate_per_connection_MBps", &m.rate_per_connection_MBps},
          {"rate_total_MBps", &m.rate_total_MBps},
          {"requests_per_second", &m.requests_per_second},
          {"request_KiB", &m.request_KiB},
          {"load_first_byte_ms", &m.load_first_byte_ms},
          {"load_rate_MBps", &m.load_rate_MBps},
          {"throughput_credits.baseline_MBps", &m.throughput_credits.baseline},
          {"throughput_credits.burst_MBps", &m.throughput_credits.burst},
          {"throughput_credits.start_MB", &m.throughput_credits.start},
          {"throughput_credits.cap_MB", &m.throughput_credits.cap},
          {"request_credits.baseline_per_second", &m.request_credits.baseline},
          {"request_credits.burst_per_second", &m.request_credits.burst},
          {"request_credits.start", &m.request_credits.start},
          {"request_credits.cap", &m.request_credits.cap}};
}

Error bad(const YAML::Node& node, const std::string& cause) {
  return Error(Code::invalid, cause, "src/job/MEDIA.md describes the file")
      .at(fmt::format("line {}", node.Mark().line + 1));
}

class Parser {
 public:
  Result<MediaFile> parse(const YAML::Node& root) {
    if (!root.IsMap()) return bad(root, "not a mapping");
    if (root["schema"].as<int>(0) != 1) return bad(root, "schema is not 1");
    for (const auto& source : root["sources"]) {
      sources_.emplace_back(source.first.as<std::string>(), source.second.as<std::string>());
    }
    MediaFile file;
    file.date = root["date"].as<std::string>("");
    for (const auto& medium : root["media"]) {
      const auto name = medium.first.as<std::string>();
      auto entry = parse_medium(name, medium.second);
      if (!entry) return std::move(entry).error().at(name);
      file.media.push_back(*std::move(entry));
    }
    return file;
  }

 private:
  Result<MediumEntry> parse_medium(const std::string& name, const YAML::Node& node) {
    if (!node.IsMap()) return bad(node, "not a mapping");
    MediumEntry entry;
    entry.medium.name = name;
    for (const auto& field : node) {
      const auto key = field.first.as<std::string>();
      if (key == "about") {
        entry.about = field.second.as<std::string>();
      } else if (key == "reference") {
        entry.reference = field.second.as<std::string>();
      } else if (key == "streams") {
        const auto streams = field.second.as<std::string>();
        if (streams != "one" && streams != "many")
          return bad(field.second, "streams is neither one nor many");
        entry.medium.one_stream = streams == "one";
      } else if (key == "prices") {
        HEADRACE_TRY(collect(field.second, "", entry.prices));
      } else {
        HEADRACE_TRY(collect(field.second, key, entry.figures));
      }
    }
    const auto slots = slots_of(entry.medium);
    for (const Figure& figure : entry.figures) {
      const auto slot = std::ranges::find(slots, figure.name, &Slot::name);
      if (slot == slots.end()) return bad(node, "unknown field " + figure.name);
      *slot->value = figure.value;
    }
    return entry;
  }

  /// A figure, or a mapping of figures.
  Result<void> collect(const YAML::Node& node, const std::string& name, std::vector<Figure>& into) {
    if (!node.IsMap()) return bad(node, name + " is not a figure: {value, source, verified}");
    if (node["value"]) {
      HEADRACE_TRY(auto figure, parse_figure(node, name));
      into.push_back(std::move(figure));
      return {};
    }
    for (const auto& part : node) {
      const auto key = part.first.as<std::string>();
      const std::string full = name.empty() ? key : fmt::format("{}.{}", name, key);
      HEADRACE_TRY(collect(part.second, full, into));
    }
    return {};
  }

  Result<Figure> parse_figure(const YAML::Node& node, const std::string& name) {
    static const std::set<std::string> known = {"value", "source", "verified", "fitted", "note"};
    for (const auto& field : node) {
      const auto key = field.first.as<std::string>();
      if (!known.contains(key)) return bad(field.first, fmt::format("{}: unknown {}", name, key));
    }
    Figure figure{.name = name, .value = node["value"].as<double>()};
    if (!std::isfinite(figure.value) || figure.value < 0)
      return bad(node, name + " is negative or no number");
    if (!node["source"] || !node["verified"])
      return bad(node, name + " says no source, or not whether it is verified");
    const auto source = node["source"].as<std::string>();
    const auto named = std::ranges::find(sources_, source, &Source::first);
    if (named == sources_.end()) return bad(node, fmt::format("{}: no source {}", name, source));
    figure.source = named->second;
    figure.verified = node["verified"].as<bool>();
    figure.fitted = node["fitted"].as<bool>(false);
    figure.note = node["note"].as<std::string>("");
    return figure;
  }

  using Source = std::pair<std::string, std::string>;
  std::vector<Source> sources_;
};

}  // namespace

Result<const MediumEntry*> MediaFile::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const MediumEntry& entry : media) {
    if (entry.medium.name == name) return &entry;
    names.push_back(entry.medium.name);
  }
  return Error(Code::invalid, fmt::format("no medium {}", name),
               fmt::format("one of {}", fmt::join(names, ", ")));
}

Result<Medium> medium_for(std::string_view name, double scale) {
  HEADRACE_TRY(const auto media, load_media());
  HEADRACE_TRY(const auto* const entry, media.find(name));
  return scaled(entry->medium, 1 / scale);
}

Result<std::unique_ptr<Store>> shaped_as(std::string_view medium, double scale, Store& below,
                                         const Context& context, std::uint64_t seed) {
  HEADRACE_TRY(const Medium slow, medium_for(medium, scale));
  return make_shaped_store(below, slow, context, seed);
}

Result<MediaFile> load_media() {
  HEADRACE_TRY(const auto path, find_data_file("media.yaml"));
  return load_media(path);
}

Result<MediaFile> load_media(const std::string& path) {
  try {
    auto file = Parser().parse(YAML::LoadFile(path));
    if (!file) return std::move(file).error().at(path);
    file->path = path;
    return file;
  } catch (const YAML::BadFile&) {
    return Error(Code::not_found, "cannot be read").at(path);
  } catch (const YAML::Exception& error) {
    return Error(Code::invalid, error.what(), "src/job/MEDIA.md describes the file").at(path);
  }
}

}  // namespace headrace
