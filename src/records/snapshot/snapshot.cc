// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/snapshot/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "headrace/base/context.h"
#include "headrace/base/mutex.h"
#include "headrace/base/unique_fd.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/formats.h"
#include "headrace/records/listing.h"
#include "headrace/records/snapshot/keeping.h"
#include "headrace/storage/local/local_store.h"

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are mapped as they lie");

constexpr std::string_view kMagic = "HRSNAP2\n";
constexpr std::size_t kFixed = 72;
constexpr std::size_t kSum = 16;
constexpr std::size_t kPage = 4096;

struct Fixed {
  char magic[8];
  std::uint64_t objects;
  std::uint64_t names;
  std::int64_t taken_at;
  std::uint64_t plain;
  std::uint64_t fingerprint_high;
  std::uint64_t fingerprint_low;
  std::uint64_t place;
  std::uint64_t format;
};
static_assert(sizeof(Fixed) == kFixed);

std::size_t padded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// A whole file, mapped for reading.
class Mapping {
 public:
  Mapping(void* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(data_, size_); }

  ByteSpan span() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_;
  std::size_t size_;
};

/// Takes pages from several threads.
class Gathering {
 public:
  explicit Gathering(ObjectIndexBuilder empty) : index_(std::move(empty)) {}

  Result<void> add(std::span<const ObjectInfo> page) {
    const MutexLock lock(mutex_);
    for (const ObjectInfo& object : page) {
      plain_ =
          plain_ && is_sample_key(object.key) && !object.archived && object.key.find('/') + 1 > 1;
      HEADRACE_TRY(index_.add(object));
    }
    return {};
  }
  Result<ObjectIndex> finish(bool& plain) {
    const MutexLock lock(mutex_);
    plain = plain_;
    return index_.finish();
  }

 private:
  Mutex mutex_;
  ObjectIndexBuilder index_ HEADRACE_GUARDED_BY(mutex_);
  bool plain_ HEADRACE_GUARDED_BY(mutex_) = true;
};

Error damaged(std::string_view how) {
  return {Code::corrupt, fmt::format("this snapshot is {}", how), "--snapshot refresh"};
}

}  // namespace

Result<std::shared_ptr<const Snapshot>> Snapshot::take(Store& store, std::int64_t unix_seconds,
                                                       const std::stop_token& stop) {
  HEADRACE_TRY(auto empty, ObjectIndexBuilder::make());
  Gathering gathering(std::move(empty));
  const ObjectSink sink = [&gathering](std::span<const ObjectInfo> page) {
    return gathering.add(page);
  };
  HEADRACE_TRY(list_below(store, "", kListers, stop, sink));
  bool plain = false;
  HEADRACE_TRY(auto objects, gathering.finish(plain));
  const std::shared_ptr<Snapshot> made(new Snapshot(std::move(objects)));
  made->place_ = store.describe();
  made->taken_at_ = unix_seconds;
  made->plain_ = plain && made->objects_.size() != 0;
  made->fingerprint_ = made->objects_.fingerprint();
  // If it cannot be told, whoever opens the set learns why.
  const auto view = make_snapshot_store(store, made);
  if (const auto format = recognise_format(*view, stop)) made->format_ = (*format)->name;
  return std::shared_ptr<const Snapshot>(made);
}

std::string Snapshot::head() const {
  Fixed fixed{};
  std::memcpy(&fixed.magic[0], kMagic.data(), kMagic.size());
  fixed.objects = objects_.size();
  fixed.names = objects_.names().size();
  fixed.taken_at = taken_at_;
  fixed.plain = plain_ ? 1 : 0;
  fixed.fingerprint_high = fingerprint_.high;
  fixed.fingerprint_low = fingerprint_.low;
  fixed.place = place_.size();
  fixed.format = format_.size();
  std::string head(sizeof fixed, '\0');
  std::memcpy(head.data(), &fixed, sizeof fixed);
  head += place_ + format_;
  const Hash128 sum = hash_bytes(as_byte_span(head));
  char words[kSum];
  std::memcpy(&words[0], &sum.high, sizeof sum.high);
  std::memcpy(&words[8], &sum.low, sizeof sum.low);
  head.append(&words[0], sizeof words);
  head.resize(padded(head.size()));
  return head;
}

Result<std::shared_ptr<const Snapshot>> Snapshot::parse(ByteSpan file,
                                                        std::shared_ptr<const void> owner) {
  Fixed fixed{};
  if (file.size() < sizeof fixed + kSum) return damaged("cut short");
  std::memcpy(&fixed, file.data(), sizeof fixed);
  if (std::string_view(&fixed.magic[0], sizeof fixed.magic) != kMagic)
    return std::string_view(&fixed.magic[0], 6) == kMagic.substr(0, 6)
               ? Error(Code::corrupt, "this is a snapshot of another version")
               : Error(Code::invalid, "this is no snapshot");
  const std::size_t texts = file.size() - sizeof fixed - kSum;
  if (fixed.place > texts || fixed.format > texts - fixed.place) return damaged("cut short");
  const std::size_t summed = sizeof fixed + fixed.place + fixed.format;
  Hash128 sum;
  std::memcpy(&sum.high, &file[summed], sizeof sum.high);
  std::memcpy(&sum.low, &file[summed + sizeof sum.high], sizeof sum.low);
  if (sum != hash_bytes(file.first(summed))) return damaged("damaged");
  const std::size_t begin = padded(summed + kSum);
  if (begin > file.size() || fixed.objects > (file.size() - begin) / sizeof(ObjectEntry) ||
      file.size() - begin - fixed.objects * sizeof(ObjectEntry) != fixed.names) {
    return damaged("cut short");
  }
  const auto body = file.subspan(begin);
  const auto* entries = static_cast<const ObjectEntry*>(static_cast<const void*>(body.data()));
  const auto* names = static_cast<const char*>(static_cast<const void*>(body.data())) +
                      fixed.objects * sizeof(ObjectEntry);
  const std::shared_ptr<Snapshot> made(
      new Snapshot({{entries, fixed.objects}, {names, fixed.names}, std::move(owner)}));
  const auto* text = static_cast<const char*>(static_cast<const void*>(&file[sizeof fixed]));
  made->place_.assign(text, fixed.place);
  made->format_.assign(text + fixed.place, fixed.format);
  made->taken_at_ = fixed.taken_at;
  made->plain_ = fixed.plain == 1;
  made->fingerprint_ = {fixed.fingerprint_high, fixed.fingerprint_low};
  return std::shared_ptr<const Snapshot>(made);
}

Result<std::shared_ptr<const Snapshot>> Snapshot::load(const std::string& path,
                                                       const std::string& place) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::shared_ptr<const Snapshot>();
    return errno_error(errno, "open").at(path);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_error(errno, "stat").at(path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return damaged("empty").at(path);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return errno_error(errno, "map").at(path);
  const auto mapping = std::make_shared<const Mapping>(data, size);
  auto loaded = parse(mapping->span(), mapping);
  if (loaded.ok() && (*loaded)->place() != place) {
    return Error(Code::invalid,
                 fmt::format("this is a snapshot of {}, not of {}", (*loaded)->place(), place))
        .at(path);
  }
  return std::move(loaded).at(path);
}

Result<void> Snapshot::save(const std::string& path) const {
  const std::filesystem::path whole(path);
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  const auto store = make_local_store(folder, Context{}, {.threads = 1});
  HEADRACE_TRY(const auto writer, store->create(whole.filename().string(), {}));
  HEADRACE_TRY(writer->append(as_byte_span(head())));
  HEADRACE_TRY(writer->append(std::as_bytes(objects_.entries())));
  HEADRACE_TRY(writer->append(std::as_bytes(objects_.names())));
  HEADRACE_TRY(writer->finish());
  return {};
}

}  // namespace headrace
