// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/spec.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include "headrace/advisor/nearest.h"
#include "headrace/advisor/yaml.h"
#include "headrace/base/parse_number.h"
#include "headrace/job/selection_words.h"

namespace headrace::advisor {
namespace {

constexpr Option of_selection(const SelectionWord& word, Kind kind) {
  return {word.name, word.value, word.help, kind, Use::read};
}

constexpr std::array kOptions{
    Option{"modes", "LIST", "of direct, file, stream, keep, fastfile, pipe; all if not given",
           Kind::list, Use::table},
    Option{"local", "PATH", "for direct: a copy of the set on this machine; one a URI", Kind::list,
           Use::table},
    Option{"with", "URI", "one more set, joined behind URI; may be given several times", Kind::list,
           Use::table},
    Option{"medium", "NAME",
           "behave like this medium; or MODE=NAME,…,NAME, a medium a mode; a mode may have several",
           Kind::map, Use::table},
    Option{"scale", "N", "the real job is N times as large: credits shrink so, rows tell its total",
           Kind::number, Use::table},
    Option{"fitted", "LIST", "inputs that were set so that a published result comes out",
           Kind::list, Use::table},
    Option{"published", "MODE=SECONDS", "totals that were published, to show beside ours",
           Kind::map, Use::table},
    Option{"repeats", "N", "runs of each mode, interleaved (3)", Kind::number, Use::table},
    Option{"name", "TEXT", "title of the table", Kind::text, Use::table},
    Option{"keep-dir", "DIR", "where caches and copies are made, anew for each run", Kind::text,
           Use::table},
    Option{"keep-medium", "NAME", "for keep: the cache's disk behaves like this medium", Kind::text,
           Use::table},
    Option{"partial-reads", "",
           "for keep: one more row, which from the second epoch on reads of a JPEG only what its "
           "crop needs",
           Kind::flag, Use::table},
    Option{"format", "NAME", "of the set; found from content if not given", Kind::text, Use::read},
    Option{"list", "FILE", "a .lst or .csv that names and labels samples", Kind::text, Use::read},
    Option{"root-files-skip", "", "leave out pictures beside the class folders", Kind::flag,
           Use::read},
    Option{"list-root", "URI", "what a manifest calls the root, where this is a copy", Kind::text,
           Use::read},
    Option{"attribute-names", "LIST", "of an augmented manifest, in order: source-ref,class",
           Kind::text, Use::read},
    Option{"image-key", "NAME", "tfrecord, protobuf: the picture's feature", Kind::text, Use::read},
    Option{"label-key", "NAME", "tfrecord, protobuf: the labels' feature", Kind::text, Use::read},
    Option{"label-base", "0|1", "tfrecord: what classes count from", Kind::text, Use::read},
    Option{"recordio-parts", "dmlc|sagemaker", "what stands between parts of a record", Kind::text,
           Use::read},
    Option{"epochs", "E", "epochs of a run (3)", Kind::number, Use::read},
    Option{"batch", "B", "samples a batch", Kind::number, Use::read},
    Option{"seed", "S", "of order and augmentation", Kind::number, Use::read},
    Option{"shuffle", "NAME", "order of the samples: global, blocks, node:N, none", Kind::text,
           Use::read},
    of_selection(selection_words::repeat, Kind::list),
    of_selection(selection_words::shares, Kind::list),
    of_selection(selection_words::epoch_samples, Kind::number),
    of_selection(selection_words::class_weights, Kind::list),
    of_selection(selection_words::sample_weights, Kind::text),
    Option{"rank", "R", "this process's part of the job", Kind::number, Use::read},
    Option{"world-size", "W", "parts of the job", Kind::number, Use::read},
    Option{"drop-last", "", "leave an incomplete step out", Kind::flag, Use::read},
    Option{"pad", "", "fill an incomplete step, marked", Kind::flag, Use::read},
    Option{"wrap", "", "fill an incomplete step, not marked", Kind::flag, Use::read},
    Option{"threads", "T", "decode threads; 0: as many as processors", Kind::number, Use::read},
    Option{"budget", "SIZE", "memory for data on its way", Kind::text, Use::read},
    Option{"requests", "N", "reads in flight", Kind::number, Use::read},
    Option{"depth", "N", "batches made ahead", Kind::number, Use::read},
    Option{"pin", "", "pin the batches' memory", Kind::flag, Use::read},
    Option{"keep-bytes", "SIZE", "for keep: limit of the cache", Kind::text, Use::read},
    Option{"on-bad", "error|skip|substitute", "a damaged sample", Kind::text, Use::read},
    Option{"max-bad", "SHARE", "of an epoch that may be bad", Kind::text, Use::read},
    Option{"augment", "NAME",
           "random_resized_crop, center_crop, pad_crop, none, crop, crop_color or "
           "crop_color_transform",
           Kind::text, Use::read},
    Option{"jitter", "B,C,S,H", "random brightness, contrast, saturation, hue", Kind::text,
           Use::read},
    Option{"erase", "P", "probability that a part is erased", Kind::number, Use::read},
    Option{"orient", "stored|exif", "whether EXIF turns the pictures", Kind::text, Use::read},
    Option{"colours", "stored|srgb", "whether colour profiles are followed", Kind::text, Use::read},
    Option{"size", "N", "width and height of the pixels", Kind::number, Use::read},
    Option{"resize", "N", "shorter side before a crop without scale", Kind::number, Use::read},
    Option{"layout", "NAME", "nchw_f32, nchw_f16, nchw_bf16, nchw_u8 or nhwc_u8", Kind::text,
           Use::read},
    Option{"filter", "NAME", "bilinear, bicubic, lanczos, box, hamming or nearest", Kind::text,
           Use::read},
    Option{"pass-order", "NAME", "pillow12 or pillow13", Kind::text, Use::read},
    Option{"grey", "", "one channel", Kind::flag, Use::read},
    Option{"no-decode", "", "digest the pictures, make no pixels", Kind::flag, Use::read},
    Option{"val", "URI", "validation set, read after each epoch", Kind::text, Use::read},
    Option{"val-local", "PATH", "as local, for the validation set", Kind::text, Use::read},
    Option{"accelerator", "none|emulated:RATE", "what takes the batches, in samples/s", Kind::text,
           Use::read},
    Option{"instance", "TYPE", "count dollars for this instance, e.g. p3.2xlarge, ml.g5.xlarge",
           Kind::text, Use::whole},
    Option{"prices", "FILE", "another price file than the one that comes along", Kind::text,
           Use::whole},
    Option{"server-data", "DIR", "files of a server on this machine: made cold before each run",
           Kind::list, Use::whole},
    Option{"report", "FILE.html", "write a report, and results.json beside it", Kind::text,
           Use::whole},
};
constexpr std::array kModes{Mode::direct, Mode::file,     Mode::stream,
                            Mode::keep,   Mode::fastfile, Mode::pipe};
constexpr unsigned kMaxRepeats = 1000;

const Option* find(std::string_view name) {
  const auto* found = std::find_if(kOptions.begin(), kOptions.end(),
                                   [&](const Option& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : found;
}

Error unknown_key(std::string_view key) {
  std::vector<std::string_view> names{"uri", "tables", "prepare"};
  for (const auto& option : kOptions) names.push_back(option.name);
  const auto meant = nearest(key, names);
  return {Code::invalid, fmt::format("unknown key \"{}\"", key),
          meant ? fmt::format("is \"{}\" meant?", *meant)
                : fmt::format("keys are {}", fmt::join(names, ", "))};
}

Error unfit(std::string_view name, std::string_view value, std::string_view wanted) {
  return {Code::invalid, fmt::format("{}: \"{}\" is not {}", name, value, wanted)};
}

Result<void> check(const Option& option, const std::vector<std::string>& values) {
  const bool many = option.kind == Kind::list || option.kind == Kind::map;
  if (!many && values.size() != 1) {
    return Error(Code::invalid, fmt::format("{}: one value is wanted", option.name));
  }
  for (const auto& value : values) {
    if (option.kind == Kind::number && !parse_number<unsigned>(value)) {
      return unfit(option.name, value, "a whole number");
    }
    if (option.kind == Kind::flag && value != "true" && value != "false") {
      return unfit(option.name, value, "true or false");
    }
  }
  return {};
}

Error at_line(Error error, const YAML::Node& node) {
  return std::move(error).at(fmt::format("line {}", node.Mark().line + 1));
}

/// A scalar, a sequence of scalars, or for some a map: mode -> one or several, and "default".
std::vector<std::string> scalars(const YAML::Node& node) {
  std::vector<std::string> values;
  if (node.IsScalar()) values.push_back(node.as<std::string>());
  if (node.IsSequence()) values = node.as<std::vector<std::string>>();
  if (node.IsMap()) {
    for (const auto& pair : node) {
      const auto mode = pair.first.as<std::string>();
      for (const auto& value : scalars(pair.second)) {
        values.push_back(mode == "default" ? value : mode + "=" + value);
      }
    }
  }
  return values;
}

Result<Values> parse_values(const YAML::Node& map) {
  Values values;
  if (!map.IsMap()) return at_line({Code::invalid, "keys and values are wanted"}, map);
  for (const auto& pair : map) {
    auto key = pair.first.as<std::string>();
    std::replace(key.begin(), key.end(), '_', '-');
    if (key == "tables") continue;
    const auto* option = find(key);
    if (option == nullptr && key != "uri" && key != "prepare") {
      return at_line(unknown_key(key), pair.first);
    }
    if (pair.second.IsMap() && (option == nullptr || option->kind != Kind::map)) {
      return at_line({Code::invalid, fmt::format("{}: a value is wanted", key)}, pair.second);
    }
    values[key] = scalars(pair.second);
    if (option != nullptr) {
      if (auto fit = check(*option, values[key]); !fit) {
        return at_line(std::move(fit).error(), pair.second);
      }
    }
  }
  return values;
}

const std::vector<std::string>& get(const Values& values, std::string_view name) {
  static const std::vector<std::string> none;
  const auto found = values.find(name);
  return found == values.end() ? none : found->second;
}

std::string text(const Values& values, std::string_view name) {
  const auto& list = get(values, name);
  return list.empty() ? std::string() : list.front();
}

/// The parts of "a,b" and of repeated options, in order.
std::vector<std::string> split(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::string_view value : values) {
    for (;;) {
      const auto comma = value.find(',');
      if (comma != 0 && !value.empty()) parts.emplace_back(value.substr(0, comma));
      if (comma == std::string_view::npos) break;
      value.remove_prefix(comma + 1);
    }
  }
  return parts;
}

Result<std::map<Mode, std::vector<std::string>>> parse_media(
    const std::vector<std::string>& values) {
  std::map<Mode, std::vector<std::string>> media;
  std::vector<std::string> others;
  for (const auto& part : split(values)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) {
      others.push_back(part);
      continue;
    }
    HEADRACE_TRY(const auto mode, parse_mode(part.substr(0, equals)).at("medium"));
    media[mode].push_back(part.substr(equals + 1));
  }
  const std::vector<std::string> none{"none"};
  for (const auto mode : kModes) {
    const auto& of_mode = media.try_emplace(mode, others).first->second;
    if (of_mode.empty() || of_mode == none) media.erase(mode);
  }
  return media;
}

Result<std::map<Mode, double>> parse_published(const std::vector<std::string>& values) {
  std::map<Mode, double> published;
  for (const auto& part : split(values)) {
    const auto equals = part.find('=');
    HEADRACE_TRY(const auto mode, parse_mode(part.substr(0, equals)).at("published"));
    const auto seconds = equals == std::string::npos ? "" : part.substr(equals + 1);
    const auto number = parse_number<unsigned>(seconds);
    if (!number) return unfit("published", part, "MODE=SECONDS");
    published[mode] = *number;
  }
  return published;
}

Result<std::vector<SetSpec>> parse_sets(const Values& values) {
  const auto& uris = get(values, "uri");
  const auto& locals = get(values, "local");
  if (uris.empty()) return Error(Code::invalid, "no URI: nothing to compare");
  const auto& with = get(values, "with");
  if (!with.empty() && uris.size() > 1) {
    return Error(Code::invalid,
                 fmt::format("with: one set can have others joined to it, and here are {} forms of "
                             "one",
                             uris.size()),
                 "compare the forms without it, or give one URI");
  }
  const std::size_t places = uris.size() + with.size();
  if (!locals.empty() && locals.size() != places) {
    return Error(Code::invalid, fmt::format("{} URIs but {} local copies", places, locals.size()),
                 "give one --local a URI, in the same order");
  }
  if (!with.empty()) {
    SetSpec set{uris.front(), locals.empty() ? std::string() : locals.front(), with};
    if (!locals.empty()) set.with_local.assign(locals.begin() + 1, locals.end());
    return std::vector{std::move(set)};
  }
  std::vector<SetSpec> sets;
  for (std::size_t i = 0; i < uris.size(); ++i) {
    sets.push_back({uris[i], locals.empty() ? std::string() : locals[i]});
  }
  return sets;
}

/// What `headrace read` would refuse in each mode.
Result<void> check_proportions(const Values& values, std::size_t sets) {
  const auto repeat = split(get(values, "repeat"));
  const auto shares = split(get(values, "shares"));
  if (!repeat.empty() && !shares.empty())
    return Error(Code::invalid, "repeat and shares exclude each other", "leave one out");
  for (const auto& [name, numbers] : {std::pair("repeat", &repeat), std::pair("shares", &shares)}) {
    if (numbers->empty() || numbers->size() == sets) continue;
    return Error(Code::invalid,
                 fmt::format("{}: {} numbers for {} sets", name, numbers->size(), sets),
                 "give one number for each set");
  }
  return {};
}

std::vector<std::string> read_flags(const Values& values) {
  std::vector<std::string> flags;
  for (const auto& option : kOptions) {
    if (option.use != Use::read) continue;
    const auto& given = get(values, option.name);
    if (given.empty() || given.front() == "false") continue;
    flags.push_back(fmt::format("--{}", option.name));
    if (option.kind != Kind::flag) flags.push_back(given.front());
    for (std::size_t i = 1; i < given.size(); ++i) {  // of a list
      flags.push_back(fmt::format("--{}", option.name));
      flags.push_back(given[i]);
    }
  }
  if (get(values, "epochs").empty()) flags.insert(flags.end(), {"--epochs", "3"});
  return flags;
}

/// What belongs to mode keep.
Result<void> check_keep(const TableSpec& table, const Values& values) {
  const bool keeps =
      std::find(table.modes.begin(), table.modes.end(), Mode::keep) != table.modes.end();
  for (const auto& [name, given] : {std::pair("keep-medium", !table.keep_medium.empty()),
                                    std::pair("partial-reads", table.partial_reads)}) {
    if (!given || keeps) continue;
    return Error(Code::invalid,
                 fmt::format("{} belongs to mode keep, which is not among the modes", name),
                 fmt::format("leave {} out, or add keep to modes", name));
  }
  const auto epochs = text(values, "epochs");
  if (!table.partial_reads || epochs.empty() || *parse_number<unsigned>(epochs) > 1) return {};
  return Error(Code::invalid, "partial-reads saves from the second epoch on, and there is one",
               "give at least 2 epochs");
}

Result<TableSpec> make_table(const Values& values) {
  for (const auto& [name, given] : values) {
    if (const auto* option = find(name)) HEADRACE_TRY(check(*option, given));
  }
  TableSpec table;
  table.name = text(values, "name");
  HEADRACE_TRY(table.sets, parse_sets(values));
  HEADRACE_TRY(check_proportions(values, table.sets.front().uris().size()));
  for (const auto& name : split(get(values, "modes"))) {
    HEADRACE_TRY(const auto mode, parse_mode(name).at("modes"));
    if (std::find(table.modes.begin(), table.modes.end(), mode) == table.modes.end()) {
      table.modes.push_back(mode);
    }
  }
  if (table.modes.empty()) table.modes.assign(kModes.begin(), kModes.end());
  HEADRACE_TRY(table.media, parse_media(get(values, "medium")));
  if (const auto repeats = text(values, "repeats"); !repeats.empty()) {
    table.repeats = *parse_number<unsigned>(repeats);
    if (table.repeats < 1 || table.repeats > kMaxRepeats) {
      return unfit("repeats", repeats, "between 1 and 1000");
    }
  }
  if (const auto epochs = text(values, "epochs");
      !epochs.empty() && *parse_number<unsigned>(epochs) == 0) {
    return unfit("epochs", epochs, "at least 1: without an epoch there is nothing to measure");
  }
  if (const auto scale = text(values, "scale"); !scale.empty()) {
    table.scale = *parse_number<unsigned>(scale);
    if (table.scale == 0) return unfit("scale", scale, "at least 1");
  }
  table.fitted = split(get(values, "fitted"));
  HEADRACE_TRY(table.published, parse_published(get(values, "published")));
  table.keep_dir = text(values, "keep-dir");
  table.keep_medium = text(values, "keep-medium");
  table.partial_reads = text(values, "partial-reads") == "true";
  HEADRACE_TRY(check_keep(table, values));
  table.read_flags = read_flags(values);
  if (table.scale != 1) {
    table.read_flags.insert(table.read_flags.end(), {"--scale", fmt::to_string(table.scale)});
  }
  table.open.list = text(values, "list");
  table.open.list_root = text(values, "list-root");
  table.open.attribute_names = split(get(values, "attribute-names"));
  if (const auto format = text(values, "format"); !format.empty()) table.open.format = format;
  table.open.skip_root_files = text(values, "root-files-skip") == "true";
  return table;
}

}  // namespace

std::span<const Option> options() { return kOptions; }

Result<Experiment> parse_experiment(std::string_view yaml, std::string_view name) {
  return with_yaml(yaml, name, [](const YAML::Node& root) -> Result<Experiment> {
    Experiment experiment;
    HEADRACE_TRY(experiment.common, parse_values(root));
    const auto tables = root["tables"];
    if (!tables) return experiment;
    if (!tables.IsSequence() || tables.size() == 0) {
      return at_line({Code::invalid, "tables: a list is wanted, of at least one"}, tables);
    }
    for (const auto& table : tables) {
      HEADRACE_TRY(auto values, parse_values(table));
      for (const auto& [key, given] : values) {
        const auto* option = find(key);
        if (key == "prepare" || (option != nullptr && option->use == Use::whole)) {
          return at_line({Code::invalid, fmt::format("{} holds for all tables", key),
                          "set it beside `tables`"},
                         table);
        }
      }
      experiment.tables.push_back(std::move(values));
    }
    return experiment;
  });
}

std::vector<std::string> SetSpec::uris() const {
  std::vector<std::string> all{uri};
  all.insert(all.end(), with.begin(), with.end());
  return all;
}

std::vector<std::string> SetSpec::locals() const {
  std::vector<std::string> all;
  if (!local.empty()) all.push_back(local);
  all.insert(all.end(), with_local.begin(), with_local.end());
  return all;
}

std::vector<std::string> TableSpec::media_of(Mode mode) const {
  const auto found = media.find(mode);
  return found == media.end() ? std::vector<std::string>{"none"} : found->second;
}

Result<void> check_places(const CompareSpec& spec) {
  for (const std::string& path : spec.server_data) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) {
      return Error(Code::invalid, "server-data names nothing on this machine",
                   "give the folder in which a server on this machine keeps its files")
          .at(path);
    }
  }
  return {};
}

Result<CompareSpec> make_spec(const Experiment& experiment) {
  CompareSpec spec;
  const auto& common = experiment.common;
  spec.instance = text(common, "instance");
  spec.prices = text(common, "prices");
  spec.report = text(common, "report");
  spec.server_data = get(common, "server-data");
  spec.prepare = get(common, "prepare");
  auto tables = experiment.tables;
  if (tables.empty()) tables.emplace_back();
  for (auto& values : tables) {
    values.insert(common.begin(), common.end());  // those that are set already stay
    HEADRACE_TRY(auto table, make_table(values));
    if (table.name.empty() && tables.size() > 1) {
      table.name = fmt::format("table {}", spec.tables.size() + 1);
    }
    for (const auto& other : spec.tables) {
      if (other.name == table.name) return unfit("name", table.name, "the name of one table only");
    }
    spec.tables.push_back(std::move(table));
  }
  return spec;
}

}  // namespace headrace::advisor
