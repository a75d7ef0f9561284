// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/list/list.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "headrace/records/byte_source.h"
#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"
#include "headrace/records/find_objects.h"
#include "headrace/records/lines.h"
#include "headrace/records/list/rows.h"
#include "headrace/records/manifest/lines.h"
#include "headrace/records/manifest/manifest.h"
#include "headrace/records/object_index.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

using list::Kind;

/// One sample, before and after its object was found.
struct Entry {
  std::uint64_t path_at;
  std::uint32_t list;
  std::uint32_t line;
  std::uint64_t labels_at : 40;
  std::uint64_t label_count : 24;
  std::uint64_t ordinal;  ///< in the ObjectIndex
};

struct Table {
  Kind kind = Kind::lst;
  MappedArray<Entry> entries;
  MappedArray<char> paths;  ///< each ends in '\0'
  MappedArray<float> labels;
  std::vector<std::string> classes;

  std::string_view path(const Entry& entry) const { return &paths.span()[entry.path_at]; }
  std::span<const float> labels_of(const Entry& entry) const {
    return labels.span().subspan(entry.labels_at, entry.label_count);
  }
};

class ListSet final : public Dataset {
 public:
  ListSet(Table table, ObjectIndex objects)
      : table_(std::move(table)), objects_(std::move(objects)) {
    for (std::uint64_t i = 0; i < size(); ++i) {
      fingerprint_ += objects_.term(entry(SampleId{i}).ordinal);
      const auto labels = table_.labels_of(entry(SampleId{i}));
      fingerprint_ += order_term(i, entry(SampleId{i}).ordinal, labels, {});
    }
  }

  std::string format() const override {
    if (table_.kind == Kind::manifest) return "manifest";
    return table_.kind == Kind::lst ? "lst" : "csv";
  }
  std::uint64_t size() const override { return table_.entries.size(); }
  std::uint64_t frame_bytes(SampleId id) const override {
    return objects_.bytes(entry(id).ordinal);
  }
  Extent locate(SampleId id) const override { return objects_.extent(entry(id).ordinal); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    const auto labels = table_.labels_of(entry(id));
    return Sample{.labels = {labels.begin(), labels.end()}, .payload = frame};
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const override {
    const auto labels = table_.labels_of(entry(id));
    RawRecord record;
    record.content = frame;
    record.key = name(id);
    record.labels = {labels.begin(), labels.end()};
    return record;
  }
  std::string name(SampleId id) const override { return std::string(table_.path(entry(id))); }
  std::string file(SampleId id, const Bytes& /*frame*/) const override { return name(id); }
  std::optional<float> label(SampleId id) const override {
    const auto labels = table_.labels_of(entry(id));
    return labels.empty() ? std::nullopt : std::optional(labels[0]);
  }
  const std::vector<std::string>& classes() const override { return table_.classes; }
  Hash128 fingerprint() const override { return fingerprint_; }
  std::string index_source() const override { return "list"; }

 private:
  const Entry& entry(SampleId id) const { return table_.entries[static_cast<std::size_t>(id)]; }

  const Table table_;
  const ObjectIndex objects_;
  Hash128 fingerprint_;
};

/// What is read as one list. The user names a file or a key; what was found is a key.
struct Lists {
  std::vector<std::string> names;
  bool in_store = false;
};

Result<std::unique_ptr<ByteSource>> open_source(Store& store, const std::string& name,
                                                bool in_store, const std::stop_token& stop) {
  if (!in_store) {
    UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.valid()) return make_fd_source(std::move(fd), name, stop);
    if (errno != ENOENT && errno != ENOTDIR) return errno_error(errno, "open").at(name);
  }
  auto info = store.head(name, stop);
  if (!info) {
    // A path is no key that a store takes: then it is `invalid`, and the file is what was meant.
    const Code code = info.error().code();
    if (code != Code::not_found && code != Code::invalid) return std::move(info).error();
    return Error(Code::not_found,
                 fmt::format("neither a file nor an object of {}", store.describe()))
        .at(name);
  }
  return make_store_source(store, *info, {}, stop);
}

/// Reads the list; twice if it is CSV, as only the whole tells whether labels are names.
class Reader {
 public:
  /// `list` is the number of the list among several.
  using Use = std::function<Result<void>(std::size_t list, std::uint64_t line, list::Row&& row)>;

  Reader(Store& store, const OpenOptions& options, const Lists& lists)
      : store_(store),
        options_(options),
        lists_(lists),
        root_(options.list_root.empty() ? store.describe() : options.list_root) {}

  Kind kind() const { return kind_; }

  Result<void> each(const Use& use) {
    for (list_ = 0; list_ < lists_.names.size(); ++list_) HEADRACE_TRY(read_list(use));
    return {};
  }

 private:
  Result<void> read_list(const Use& use) {
    const std::string& name = lists_.names[list_];
    HEADRACE_TRY(const auto source, open_source(store_, name, lists_.in_store, options_.stop));
    LineReader lines(*source);
    bool first = true;
    while (true) {
      auto line = lines.next();
      if (!line) return std::move(line).error().at(name);
      if (!*line) return {};
      auto used = line_of(**line, std::exchange(first, false), lines.number(), use);
      if (!used)
        return std::move(used).error().at(fmt::format("{}, line {}", name, lines.number()));
    }
  }

  Result<void> line_of(std::string_view line, bool first, std::uint64_t number, const Use& use) {
    if (first) {
      if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      kind_ = options_.format == "lst"        ? Kind::lst
              : options_.format == "csv"      ? Kind::csv
              : options_.format == "manifest" ? Kind::manifest
                                              : list::kind_of(lists_.names[list_], line);
    }
    if (kind_ == Kind::lst) {
      HEADRACE_TRY(auto row, list::parse_lst(line));
      return row ? use(list_, number, *std::move(row)) : Result<void>();
    }
    if (line.empty()) return {};
    if (kind_ == Kind::manifest) {
      HEADRACE_TRY(auto row, manifest::parse_line(line, options_.attribute_names, root_));
      return use(list_, number, std::move(row));
    }
    HEADRACE_TRY(auto fields, list::split_csv(line));
    if (first) {
      bool is_header = false;
      columns_ = list::CsvColumns::from_first_line(fields, is_header);
      if (is_header) return {};
    }
    HEADRACE_TRY(auto row, columns_.row(std::move(fields)));
    return use(list_, number, std::move(row));
  }

  Store& store_;
  const OpenOptions& options_;
  const Lists& lists_;
  const manifest::Root root_;
  std::size_t list_ = 0;
  Kind kind_ = Kind::lst;
  list::CsvColumns columns_;
};

/// Class names, if one label of the list is no number.
struct Names {
  bool used = false;
  std::set<std::string> found;
  std::map<std::string, float> numbers;

  Result<float> number_of(const std::string& label) const {
    const auto number = numbers.find(label);
    if (number != numbers.end()) return number->second;
    return Error(Code::invalid, fmt::format("class \"{}\" is unknown", label));
  }
};

Result<Names> find_names(Reader& reader, const OpenOptions& options, Notices& notices,
                         std::vector<std::string>& classes) {
  constexpr std::size_t kMaxClasses = 1'000'000;  // beyond it they are no classes
  Names names;
  HEADRACE_TRY(reader.each(
      [&](std::size_t /*list*/, std::uint64_t /*line*/, list::Row&& row) -> Result<void> {
        for (std::string& label : row.labels) {
          names.used = names.used || !list::to_number(label);
          if (names.found.size() < kMaxClasses) names.found.insert(std::move(label));
        }
        return {};
      }));
  if (!names.used) {
    classes = options.classes;
    return names;
  }
  HEADRACE_TRY(classes,
               settle_classes({names.found.begin(), names.found.end()}, options.classes, notices));
  for (const std::string& name : classes)
    names.numbers.emplace(name, static_cast<float>(names.numbers.size()));
  return names;
}

/// Class names that `convert` left beside a list of numbers, in the store only.
Result<ClassLabels> classes_beside(Store& store, const Context& context, const OpenOptions& options,
                                   const Lists& lists) {
  std::vector<std::string> own;
  if (lists.in_store) {
    HEADRACE_TRY(own, read_class_file(store, lists.names.front(), options.stop));
  }
  return ClassLabels::make(std::move(own), options.classes, *context.notices);
}

Result<Table> read_table(Store& store, const Context& context, const OpenOptions& options,
                         const Lists& lists) {
  Table table;
  HEADRACE_TRY(table.entries, MappedArray<Entry>::make());
  HEADRACE_TRY(table.paths, MappedArray<char>::make());
  HEADRACE_TRY(table.labels, MappedArray<float>::make());
  Reader reader(store, options, lists);
  auto names = find_names(reader, options, *context.notices, table.classes);
  if (!names) return std::move(names).error().at(lists.names.front());
  HEADRACE_TRY(const auto classes, classes_beside(store, context, options, lists));
  if (!names->used) table.classes = classes.names();
  const auto add = [&](std::size_t list, std::uint64_t line, list::Row&& row) -> Result<void> {
    if (row.path.find('\0') != std::string::npos)
      return Error(Code::invalid, "a path with a zero byte");
    Entry entry{.path_at = table.paths.size(),
                .list = static_cast<std::uint32_t>(list),
                .line = static_cast<std::uint32_t>(line),
                .labels_at = table.labels.size() & 0xff'ffff'ffffU,
                .label_count = row.labels.size() & 0xff'ffffU,
                .ordinal = 0};
    HEADRACE_TRY(table.paths.append(std::span(row.path.c_str(), row.path.size() + 1)));
    std::vector<float> numbers;
    for (const std::string& label : row.labels) {
      if (names->used) {
        HEADRACE_TRY(numbers.emplace_back(), names->number_of(label));
      } else {
        numbers.push_back(*list::to_number(label));
      }
    }
    if (!names->used && lists.in_store) HEADRACE_TRY(classes.map(numbers));
    HEADRACE_TRY(table.labels.append(numbers));
    const float first = table.labels[entry.labels_at];
    if (!table.classes.empty() && row.labels.size() == 1 &&
        !(first >= 0 && first < static_cast<float>(table.classes.size()))) {
      return Error(Code::invalid, fmt::format("label {} is not one of the {} classes of the "
                                              "training set",
                                              first, table.classes.size()));
    }
    return table.entries.append(entry);
  };
  HEADRACE_TRY(reader.each(add));
  table.kind = reader.kind();
  std::ranges::sort(table.entries.span(), [&table](const Entry& a, const Entry& b) {
    const auto order = table.path(a).compare(table.path(b));
    return order != 0 ? order < 0 : std::pair(a.list, a.line) < std::pair(b.list, b.line);
  });
  return table;
}

Result<std::unique_ptr<Dataset>> open_any(Store& store, const Context& context,
                                          const OpenOptions& options, const Lists& lists) {
  HEADRACE_TRY(auto table, read_table(store, context, options, lists));
  if (table.entries.size() == 0)
    return Error(Code::not_found, "the list names no sample").at(lists.names.front());
  const auto path_at = [&table](std::size_t i) { return table.path(table.entries[i]); };
  HEADRACE_TRY(auto objects, find_objects(store, table.entries.size(), path_at, options.stop));
  for (Entry& entry : table.entries.span()) {
    const auto found = objects.find(table.path(entry));
    if (!found) {
      return Error(Code::not_found, "no such object")
          .at(object_place(store.describe(), table.path(entry)))
          .at(fmt::format("{}, line {}", lists.names[entry.list], entry.line));
    }
    entry.ordinal = *found;
  }
  return std::make_unique<ListSet>(std::move(table), std::move(objects));
}

/// All of a list that is a JSON array, hence no list of lines; nothing if it is none.
Result<std::optional<std::string>> read_array(Store& store, const OpenOptions& options) {
  HEADRACE_TRY(const auto source, open_source(store, options.list, false, options.stop));
  HEADRACE_TRY(Bytes piece, source->next());
  const auto begin = piece.text().find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || piece.text()[begin] != '[')
    return std::optional<std::string>();
  std::string text;
  while (!piece.empty()) {
    text += piece.text();
    HEADRACE_TRY(piece, source->next());
  }
  return std::optional(std::move(text));
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_list(Store& store, const Context& context,
                                           const OpenOptions& options) {
  if (options.format != "lst" && options.format != "csv") {
    HEADRACE_TRY(const auto array, read_array(store, options));
    if (array) return open_array_manifest(store, context, options, options.list, *array);
  }
  return open_any(store, context, options, {.names = {options.list}, .in_store = false});
}

Result<std::unique_ptr<Dataset>> open_lists(Store& store, const Context& context,
                                            const OpenOptions& options,
                                            std::span<const ObjectInfo> lists) {
  Lists names{.names = {}, .in_store = true};
  for (const ObjectInfo& list : lists) names.names.push_back(list.key);
  return open_any(store, context, options, names);
}

}  // namespace headrace
