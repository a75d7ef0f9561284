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

#include "headrace/base/mutex.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/classes.h"
#include "headrace/records/lines.h"
#include "headrace/records/list/rows.h"
#include "headrace/records/listing.h"
#include "headrace/records/object_index.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

using list::Kind;

/// One sample, before and after its object was found.
struct Entry {
  std::uint64_t path_at;
  std::uint64_t line;
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

  std::string format() const override { return table_.kind == Kind::lst ? "lst" : "csv"; }
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

Result<std::unique_ptr<ByteSource>> open_source(Store& store, const OpenOptions& options) {
  UniqueFd fd(::open(options.list.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid()) return make_fd_source(std::move(fd), options.list, options.stop);
  if (errno != ENOENT && errno != ENOTDIR) return errno_error(errno, "open").at(options.list);
  auto info = store.head(options.list, options.stop);
  if (!info) {
    // A path is no key that a store takes: then it is `invalid`, and the file is what was meant.
    const Code code = info.error().code();
    if (code != Code::not_found && code != Code::invalid) return std::move(info).error();
    return Error(Code::not_found,
                 fmt::format("neither a file nor an object of {}", store.describe()))
        .at(options.list);
  }
  return make_store_source(store, *info, {}, options.stop);
}

/// Reads the list; twice if it is CSV, as only the whole tells whether labels are names.
class Reader {
 public:
  using Use = std::function<Result<void>(std::uint64_t line, list::Row&& row)>;

  Reader(Store& store, const OpenOptions& options) : store_(store), options_(options) {}

  Kind kind() const { return kind_; }

  Result<void> each(const Use& use) {
    HEADRACE_TRY(const auto source, open_source(store_, options_));
    LineReader lines(*source);
    bool first = true;
    while (true) {
      auto line = lines.next();
      if (!line) return std::move(line).error().at(options_.list);
      if (!*line) return {};
      auto used = line_of(**line, std::exchange(first, false), lines.number(), use);
      if (!used) {
        return std::move(used).error().at(
            fmt::format("{}, line {}", options_.list, lines.number()));
      }
    }
  }

 private:
  Result<void> line_of(std::string_view line, bool first, std::uint64_t number, const Use& use) {
    if (first) {
      if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      kind_ = options_.format == "lst"   ? Kind::lst
              : options_.format == "csv" ? Kind::csv
                                         : list::kind_of(options_.list, line);
    }
    if (kind_ == Kind::lst) {
      HEADRACE_TRY(auto row, list::parse_lst(line));
      return row ? use(number, *std::move(row)) : Result<void>();
    }
    if (line.empty()) return {};
    HEADRACE_TRY(auto fields, list::split_csv(line));
    if (first) {
      bool is_header = false;
      columns_ = list::CsvColumns::from_first_line(fields, is_header);
      if (is_header) return {};
    }
    HEADRACE_TRY(auto row, columns_.row(std::move(fields)));
    return use(number, std::move(row));
  }

  Store& store_;
  const OpenOptions& options_;
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
  HEADRACE_TRY(reader.each([&](std::uint64_t /*line*/, list::Row&& row) -> Result<void> {
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

Result<Table> read_table(Store& store, const Context& context, const OpenOptions& options) {
  Table table;
  HEADRACE_TRY(table.entries, MappedArray<Entry>::make());
  HEADRACE_TRY(table.paths, MappedArray<char>::make());
  HEADRACE_TRY(table.labels, MappedArray<float>::make());
  Reader reader(store, options);
  auto names = find_names(reader, options, *context.notices, table.classes);
  if (!names) return std::move(names).error().at(options.list);
  const auto add = [&](std::uint64_t line, list::Row&& row) -> Result<void> {
    if (row.path.find('\0') != std::string::npos)
      return Error(Code::invalid, "a path with a zero byte");
    Entry entry{.path_at = table.paths.size(),
                .line = line,
                .labels_at = table.labels.size() & 0xff'ffff'ffffU,
                .label_count = row.labels.size() & 0xff'ffffU,
                .ordinal = 0};
    HEADRACE_TRY(table.paths.append(std::span(row.path.c_str(), row.path.size() + 1)));
    for (const std::string& label : row.labels) {
      float number = 0;
      if (names->used) {
        HEADRACE_TRY(number, names->number_of(label));
      } else {
        number = *list::to_number(label);
      }
      HEADRACE_TRY(table.labels.append(number));
    }
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
    return order != 0 ? order < 0 : a.line < b.line;
  });
  return table;
}

/// The folder that holds all paths: "" or ends in '/'.
std::string common_folder(std::string_view first, std::string_view last) {
  const auto [end, ignored] = std::ranges::mismatch(first, last);
  const std::string_view shared = first.substr(0, static_cast<std::size_t>(end - first.begin()));
  return std::string(shared.substr(0, shared.rfind('/') + 1));
}

/// Finds the objects: few are asked for one by one, many are listed.
Result<ObjectIndex> find_objects(Store& store, const Table& table, const OpenOptions& options) {
  constexpr std::size_t kAskOneByOne = 256;
  constexpr unsigned kAskers = 16;
  HEADRACE_TRY(auto index, ObjectIndex::make());
  Mutex mutex;
  const auto add = [&index, &mutex](std::span<const ObjectInfo> objects) -> Result<void> {
    const MutexLock lock(mutex);
    for (const ObjectInfo& object : objects) HEADRACE_TRY(index.add(object));
    return {};
  };
  const auto entries = table.entries.span();
  if (entries.size() <= kAskOneByOne) {
    HEADRACE_TRY(parallel_for(entries.size(), kAskers, options.stop,
                              [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                auto info = store.head(std::string(table.path(entries[i])), stop);
                                if (!info && info.error().code() == Code::not_found)
                                  return {};  // named below
                                HEADRACE_TRY(const auto object, std::move(info));
                                return add(std::span(&object, 1));
                              }));
  } else {
    const std::string folder =
        common_folder(table.path(entries.front()), table.path(entries.back()));
    HEADRACE_TRY(const auto folders, find_folders(store, folder, options.stop, add));
    HEADRACE_TRY(list_folders(store, folders, kListers, options.stop, add));
  }
  index.finish();
  return index;
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_list(Store& store, const Context& context,
                                           const OpenOptions& options) {
  HEADRACE_TRY(auto table, read_table(store, context, options));
  if (table.entries.size() == 0)
    return Error(Code::not_found, "the list names no sample").at(options.list);
  HEADRACE_TRY(auto objects, find_objects(store, table, options));
  for (Entry& entry : table.entries.span()) {
    const auto found = objects.find(table.path(entry));
    if (!found) {
      return Error(Code::not_found, "no such object")
          .at(object_place(store.describe(), table.path(entry)))
          .at(fmt::format("{}, line {}", options.list, entry.line));
    }
    entry.ordinal = *found;
  }
  return std::make_unique<ListSet>(std::move(table), std::move(objects));
}

}  // namespace headrace
