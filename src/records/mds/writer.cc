// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/writer.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "headrace/base/scratch_file.h"
#include "headrace/records/picture_kind.h"

namespace headrace::mds {
namespace {

using Json = nlohmann::json;  // sorted by name, as streaming writes it

constexpr std::uint64_t kMaxShard = 0xffff'ffffU;  // offsets have 32 bits
constexpr std::uint64_t kSizeLimit = 1U << 26U;    // streaming's default; readers do not use it
constexpr std::size_t kPiece = 1U << 20U;
constexpr int kZstdLevel = 3;

void put(std::string& out, const void* value, std::size_t bytes) {
  out.append(static_cast<const char*>(value), bytes);
}

void put_word(std::string& out, std::uint64_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  put(out, &word, sizeof word);
}

std::string digits(const XXH64_state_t* state) {
  return fmt::format("{:016x}", XXH64_digest(state));
}

/// Bytes on their way into an object, counted and hashed.
class HashedObject {
 public:
  static Result<HashedObject> create(const SetPlace& place, const std::string& key) {
    HashedObject made;
    HEADRACE_TRY(made.object_, place.store.create(key, place.stop));
    return made;
  }
  Result<void> append(ByteSpan bytes) {
    add(bytes);
    return object_->append(bytes);
  }
  /// Only counted and hashed: of what is stored compressed.
  void add(ByteSpan bytes) {
    bytes_ += bytes.size();
    XXH64_update(state_.get(), bytes.data(), bytes.size());
  }
  Result<void> finish() {
    HEADRACE_TRY(object_->finish());
    return {};
  }
  Json described(const std::string& basename) const {
    return {
        {"basename", basename}, {"bytes", bytes_}, {"hashes", {{"xxh64", digits(state_.get())}}}};
  }
  std::uint64_t bytes() const { return bytes_; }
  HashedObject() : state_(XXH64_createState(), &XXH64_freeState) { XXH64_reset(state_.get(), 0); }

 private:
  std::unique_ptr<ObjectWriter> object_;
  std::unique_ptr<XXH64_state_t, XXH_errorcode (*)(XXH64_state_t*)> state_;
  std::uint64_t bytes_ = 0;
};

/// What the file holds, on its way into the object: as it is, or compressed.
class ShardFile {
 public:
  static Result<ShardFile> create(const SetPlace& place, const std::string& key) {
    ShardFile file;
    const bool zstd = place.compression == "zstd";
    HEADRACE_TRY(file.stored_, HashedObject::create(place, zstd ? key + ".zstd" : key));
    if (zstd) {
      file.zstd_.reset(ZSTD_createCCtx());
      ZSTD_CCtx_setParameter(file.zstd_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    }
    return file;
  }
  Result<void> append(ByteSpan bytes) {
    if (!zstd_) return stored_.append(bytes);
    raw_.add(bytes);
    return compress(bytes, ZSTD_e_continue);
  }
  Result<void> finish() {
    if (zstd_) HEADRACE_TRY(compress({}, ZSTD_e_end));
    return stored_.finish();
  }
  Json raw(const std::string& basename) const {
    return zstd_ ? raw_.described(basename) : stored_.described(basename);
  }
  Json zip(const std::string& basename) const {
    return zstd_ ? stored_.described(basename + ".zstd") : Json();
  }
  std::uint64_t bytes() const { return stored_.bytes(); }

 private:
  ShardFile() : zstd_(nullptr, &ZSTD_freeCCtx) {}

  Result<void> compress(ByteSpan bytes, ZSTD_EndDirective how) {
    std::array<std::byte, 65536> out;
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer into{out.data(), out.size(), 0};
      const std::size_t left = ZSTD_compressStream2(zstd_.get(), &into, &from, how);
      if (ZSTD_isError(left) != 0) return Error(Code::exhausted, ZSTD_getErrorName(left));
      HEADRACE_TRY(stored_.append(ByteSpan(out).first(into.pos)));
      if (how == ZSTD_e_end ? left == 0 : from.pos == from.size) return {};
    }
  }

  HashedObject stored_;
  HashedObject raw_;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> zstd_;
};

/// The offsets stand before the samples, and what the columns are is known at the end only: so
/// pictures wait in a scratch file.
class Writer final : public ShardWriter {
 public:
  Writer(const SetPlace& place, std::uint64_t shard, ScratchFile pictures)
      : place_(place),
        folder_(folder_of(place.key)),
        basename_(fmt::format("shard.{:05}.mds", shard)),
        pictures_(std::move(pictures)) {}

  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t /*shards*/) {
    HEADRACE_TRY(auto pictures, ScratchFile::make());
    return std::make_unique<Writer>(place, shard, std::move(pictures));
  }

  Result<void> add(const OutSample& sample) override {
    if (!samples_.empty() && sample.labels.size() != samples_.front().labels.size()) {
      return Error(Code::invalid,
                   fmt::format("{} labels, the first sample of its shard has {}",
                               sample.labels.size(), samples_.front().labels.size()),
                   "MDS keeps the same number of labels for each; choose another format");
    }
    Waiting waiting{.bytes = sample.payload.size(),
                    .labels = {sample.labels.begin(), sample.labels.end()},
                    .file = std::string(sample.file)};
    HEADRACE_TRY(waiting.at, pictures_.append(sample.payload));
    const std::string_view kind = picture_kind(sample.payload);
    all_jpeg_ = all_jpeg_ && kind == "jpeg";
    all_png_ = all_png_ && kind == "png";
    all_named_ = all_named_ && !sample.file.empty();
    for (const float label : sample.labels)
      all_whole_ = all_whole_ && label == std::trunc(label) && std::abs(label) < 1e15F;
    samples_.push_back(std::move(waiting));
    return {};
  }

  Result<WrittenShard> finish() override {
    Json config = columns();
    const std::string text = config.dump();
    std::string head;
    put_word(head, samples_.size());
    std::uint64_t at = 4 * (samples_.size() + 2) + text.size();
    put_word(head, at);
    for (const Waiting& one : samples_) {
      at += one.bytes + fixed_bytes(one);
      put_word(head, at);
    }
    if (at > kMaxShard) {
      return Error(Code::invalid, fmt::format("a shard of {} bytes", at),
                   "MDS holds up to 4 GiB a shard; make smaller ones");
    }
    HEADRACE_TRY(auto file, ShardFile::create(place_, folder_ + basename_));
    HEADRACE_TRY(file.append(as_byte_span(head + text)));
    for (const Waiting& one : samples_) HEADRACE_TRY(write_sample(one, file));
    HEADRACE_TRY(file.finish());
    config["raw_data"] = file.raw(basename_);
    config["zip_data"] = file.zip(basename_);
    config["samples"] = samples_.size();
    const std::string stored = place_.compression.empty() ? basename_ : basename_ + ".zstd";
    return WrittenShard{.samples = samples_.size(),
                        .bytes = file.bytes(),
                        .keys = {folder_ + stored},
                        .summary = config.dump()};
  }

 private:
  struct Waiting {
    std::uint64_t at = 0;  ///< of the picture, in the scratch file
    std::uint64_t bytes = 0;
    std::vector<float> labels;
    std::string file;
  };

  bool has_labels() const { return !samples_.empty() && !samples_.front().labels.empty(); }
  bool has_int() const { return all_whole_ && samples_.front().labels.size() == 1; }
  bool has_file() const { return all_named_ && !samples_.empty(); }

  Json columns() const {
    Json names = Json::array();
    Json encodings = Json::array();
    Json sizes = Json::array();
    const auto add = [&](const char* name, const std::string& encoding, const Json& size) {
      names.push_back(name);
      encodings.push_back(encoding);
      sizes.push_back(size);
    };
    if (has_file()) add("file", "str", nullptr);
    add("image", all_jpeg_ ? "jpeg" : all_png_ ? "png" : "bytes", nullptr);
    if (has_labels()) {
      const std::size_t count = samples_.front().labels.size();
      if (has_int()) {
        add("label", "int", 8);
      } else if (count == 1) {
        add("label", "float32", 4);
      } else {
        add("label", fmt::format("ndarray:float32:{}", count), 4 * count);
      }
    }
    const Json compression = place_.compression.empty()
                                 ? Json()
                                 : Json(fmt::format("{}:{}", place_.compression, kZstdLevel));
    return {{"column_encodings", encodings}, {"column_names", names}, {"column_sizes", sizes},
            {"compression", compression},    {"format", "mds"},       {"hashes", {"xxh64"}},
            {"size_limit", kSizeLimit},      {"version", 2}};
  }

  /// Of a sample, beside its picture.
  std::uint64_t fixed_bytes(const Waiting& one) const {
    const std::uint64_t labels = !has_labels() ? 0 : has_int() ? 8 : 4 * one.labels.size();
    return 4 + labels + (has_file() ? 4 + one.file.size() : 0);
  }

  Result<void> write_sample(const Waiting& one, ShardFile& file) const {
    std::string before;
    if (has_file()) put_word(before, one.file.size());
    put_word(before, one.bytes);
    if (has_file()) before += one.file;
    HEADRACE_TRY(file.append(as_byte_span(before)));
    Buffer piece(kPiece);
    for (std::uint64_t at = 0; at < one.bytes; at += kPiece) {
      const auto part = piece.span().first(std::min<std::uint64_t>(kPiece, one.bytes - at));
      HEADRACE_TRY(pictures_.read(one.at + at, part));
      HEADRACE_TRY(file.append(part));
    }
    std::string after;
    if (has_labels() && has_int()) {
      const auto label = static_cast<std::int64_t>(one.labels.front());
      put(after, &label, sizeof label);
    } else {
      put(after, one.labels.data(), sizeof(float) * one.labels.size());
    }
    return file.append(as_byte_span(after));
  }

  const SetPlace& place_;
  const std::string folder_;
  const std::string basename_;
  ScratchFile pictures_;
  std::vector<Waiting> samples_;
  bool all_jpeg_ = true, all_png_ = true, all_named_ = true, all_whole_ = true;
};

Result<std::vector<std::string>> finish_set(const SetPlace& place,
                                            std::span<const WrittenShard> shards) {
  Json index{{"shards", Json::array()}, {"version", 2}};
  for (const WrittenShard& shard : shards) {
    Json one = Json::parse(shard.summary, nullptr, false);
    if (!one.is_object()) return Error(Code::corrupt, "what was noted of a shard is no JSON");
    index["shards"].push_back(std::move(one));
  }
  std::vector<std::string> keys{folder_of(place.key) + "index.json"};
  HEADRACE_TRY(headrace::put(place.store, keys.back(), as_byte_span(index.dump()), place.stop));
  return keys;
}

bool owns(std::string_view object, std::string_view key) {
  const std::string folder = folder_of(key);
  if (!object.starts_with(folder)) return false;
  object.remove_prefix(folder.size());
  if (object == "index.json") return true;
  constexpr std::string_view kShard = "shard.";
  if (!object.starts_with(kShard)) return false;
  object.remove_prefix(kShard.size());
  const auto end = object.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos) return false;
  return object.substr(end) == ".mds" || object.substr(end) == ".mds.zstd";
}

}  // namespace

const WriterKind& writer_kind() {
  // Offset, two sizes, a label; the path is within what names add.
  constexpr std::uint64_t kOverhead = 20;
  static const WriterKind kKind{.overhead = kOverhead,
                                // Readers open the folder, and see nothing beside it.
                                .class_list = WriterKind::ClassList::in_folder,
                                .compressions = {"zstd"},
                                .open = Writer::open,
                                .finish_set = finish_set,
                                .owns = owns};
  return kKind;
}

}  // namespace headrace::mds
