// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/nfs/nfs_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "headrace/base/parse_number.h"
#include "headrace/storage/block.h"
#include "headrace/storage/local/local_path.h"
#include "headrace/storage/nfs/connection.h"
#include "headrace/storage/nfs/lease.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/read_pool.h"

namespace headrace {
namespace {

using nfs::Connection;
using nfs::Entry;
using nfs::Lease;
using nfs::Status;

Error stopped() { return {Code::cancelled, "stopped"}; }

/// Of the folder that holds it; "/" for what lies in the root.
std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> make_folders(Lease& at, const std::string& path, const std::stop_token& stop) {
  auto found = at->status(path, stop);
  if (found) {
    if (found->kind == Status::Kind::folder) return {};
    return Error(Code::invalid, "is a file, where a folder is needed");
  }
  if (found.error().code() != Code::not_found || path == "/") return std::move(found).error();
  HEADRACE_TRY(make_folders(at, parent_of(path), stop));
  auto made = at->make_folder(path, stop);
  if (made) return {};
  HEADRACE_TRY(found, at->status(path, stop));  // another was faster
  return found->kind == Status::Kind::folder ? Result<void>() : std::move(made);
}

/// Into a temporary name, then renamed.
class NfsWriter final : public ObjectWriter {
 public:
  NfsWriter(std::string path, std::string temporary, std::string place, Lease lease, nfs::File file)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        place_(std::move(place)),
        lease_(std::move(lease)),
        file_(std::move(file)) {}
  NfsWriter(const NfsWriter&) = delete;
  NfsWriter& operator=(const NfsWriter&) = delete;
  ~NfsWriter() override {
    file_.reset();
    if (!finished_) std::ignore = lease_->remove(temporary_, {});
  }

  Result<void> append(ByteSpan bytes) override {
    if (!file_) return Error(Code::invalid, "append after finish").at(place_);
    HEADRACE_TRY(file_->write(bytes, written_, {}).at(place_));
    written_ += bytes.size();
    return {};
  }
  Result<Pin> finish() override {
    if (!file_) return Error(Code::invalid, "finish twice").at(place_);
    HEADRACE_TRY(file_->sync({}).at(place_));
    file_.reset();
    HEADRACE_TRY(lease_->rename(temporary_, path_, {}).at(place_));
    finished_ = true;
    HEADRACE_TRY(const Status status, lease_->status(path_, {}).at(place_));
    return status.pin;
  }

 private:
  const std::string path_;
  const std::string temporary_;
  const std::string place_;
  Lease lease_;  // outlives the file
  std::optional<nfs::File> file_;
  std::uint64_t written_ = 0;
  bool finished_ = false;
};

class NfsStore final : public Store {
 public:
  NfsStore(std::string name, std::unique_ptr<Connection> first, Context context, nfs::Server server,
           unsigned connections)
      : name_(std::move(name)),
        context_(std::move(context)),
        idle_(std::move(server), std::move(first)),
        pool_(name_, connections,
              [this](const ReadRequest& request, const std::stop_token& ending) {
                return answer(request, ending);
              }) {}

  std::string describe() const override { return name_; }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    const std::string place = object_place(name_, key);
    HEADRACE_TRY(local::check_key(key).at(place));
    HEADRACE_TRY(
        const Status status,
        idle_.with<Status>(stop, [&](Connection& at) { return at.status("/" + key, stop); })
            .at(place));
    if (status.kind == Status::Kind::folder)
      return Error(Code::not_found, "is a folder, not an object").at(place);
    if (status.kind != Status::Kind::file)
      return Error(Code::invalid, "is not a regular file").at(place);
    return ObjectInfo{.key = key, .size = status.pin.size, .pin = status.pin};
  }

  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    if (stop.stop_requested()) return stopped().at(name_);
    const auto slash = request.prefix.rfind('/');
    std::string start =
        slash == std::string::npos ? std::string() : request.prefix.substr(0, slash + 1);
    ListPage page;
    // What no file can be named begins no file's name.
    if (!start.empty() && !local::check_key(std::string_view(start).substr(0, slash)))
      return ended(sink(std::move(page)));
    std::vector<std::string> pending{std::move(start)};
    while (!pending.empty()) {
      const std::string folder = std::move(pending.back());
      pending.pop_back();
      auto entries = idle_.with<std::vector<Entry>>(
          stop, [&](Connection& at) { return at.list("/" + folder, stop); });
      if (!entries) {
        // It vanished, or the prefix names no folder: nothing lies there.
        const bool gone = entries.error().code() == Code::not_found;
        if (gone && !folder.empty()) continue;
        return std::move(entries).error().at(object_place(name_, folder));
      }
      for (Entry& entry : *entries) {
        HEADRACE_TRY(take(request, folder, entry, page, pending, stop));
        if (page.objects.size() + page.folders.size() < kPage) continue;
        HEADRACE_TRY(const bool more, sink(std::exchange(page, {})));
        if (!more) return {};
      }
    }
    return ended(sink(std::move(page)));
  }

  void read(ReadRequest request, ReadDone done) override {
    pool_.push(std::move(request), std::move(done));
  }

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    std::string place = object_place(name_, key);
    if (stop.stop_requested()) return stopped().at(place);
    HEADRACE_TRY(local::check_key(key).at(place));
    const std::string path = "/" + key;
    const std::string folder = parent_of(path);
    static std::atomic<std::uint64_t> count{0};
    std::string temporary = fmt::format("{}{}{}{}-{}", folder, folder == "/" ? "" : "/",
                                        local::kTemporary, ::getpid(), ++count);
    HEADRACE_TRY(Lease lease, idle_.borrow(stop).at(place));
    HEADRACE_TRY(make_folders(lease, folder, stop).at(place));
    const auto there = lease->status(path, stop);
    if (there && there->kind == Status::Kind::folder)
      return Error(Code::invalid, "is a folder, where an object is to be written").at(place);
    HEADRACE_TRY(nfs::File file, lease->create(temporary, stop).at(place));
    return std::unique_ptr<ObjectWriter>(std::make_unique<NfsWriter>(
        path, std::move(temporary), std::move(place), std::move(lease), std::move(file)));
  }

  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    const std::string place = object_place(name_, key);
    if (stop.stop_requested()) return stopped().at(place);
    HEADRACE_TRY(local::check_key(key).at(place));
    HEADRACE_TRY(Lease lease, idle_.borrow(stop).at(place));
    HEADRACE_TRY(lease->remove("/" + key, stop).at(place));
    // A folder goes with the last object in it, as where there are only keys. Never the root.
    for (std::string at = parent_of("/" + key); at != "/"; at = parent_of(at))
      if (!lease->remove_folder(at, stop)) break;
    return {};
  }

 private:
  static constexpr std::size_t kPage = 1000;

  static Result<void> ended(const Result<bool>& sunk) {
    if (!sunk) return sunk.error();
    return {};
  }

  /// What an entry is to the listing.
  Result<void> take(const ListRequest& request, const std::string& folder, Entry& entry,
                    ListPage& page, std::vector<std::string>& pending,
                    const std::stop_token& stop) {
    if (entry.name.starts_with(local::kTemporary)) return {};
    std::string key = folder + entry.name;
    if (!key.starts_with(request.prefix)) return {};
    if (entry.kind == Entry::Kind::link) {
      const auto target =
          idle_.with<Status>(stop, [&](Connection& at) { return at.status("/" + key, stop); });
      if (!target) {
        context_.notices->add("dangling-link", object_place(name_, key) + " points to nothing");
        return {};
      }
      if (target->kind == Status::Kind::folder) {
        context_.notices->add("link-to-folder",
                              object_place(name_, key) + " is a link to a folder: left out");
        return {};
      }
      entry.kind = target->kind == Status::Kind::file ? Entry::Kind::file : Entry::Kind::other;
      entry.pin = target->pin;
    }
    if (entry.kind == Entry::Kind::folder) {
      key += '/';
      const bool all_before = key < request.start_after && !request.start_after.starts_with(key);
      if (request.by_folder) {
        page.folders.push_back(std::move(key));
      } else if (!all_before) {
        pending.push_back(std::move(key));
      }
    } else if (entry.kind == Entry::Kind::file && key > request.start_after) {
      page.objects.push_back({.key = std::move(key), .size = entry.pin.size, .pin = entry.pin});
    }
    return {};
  }

  Result<ReadResult> read_file(Connection& at, const ReadRequest& request,
                               const std::stop_token& stop) {
    HEADRACE_TRY(nfs::File file, at.open("/" + request.key, stop));
    Pin pin;
    if (request.pin) {
      pin = *request.pin;
    } else {
      HEADRACE_TRY(const Status before, file.status(stop));
      pin = before.pin;
    }
    HEADRACE_TRY(const ByteRange range, resolve(request.range, pin.size));
    HEADRACE_TRY(Buffer buffer, allocate(range.length));
    context_.metrics->add(Metric::requests, 1);
    HEADRACE_TRY(const auto got, file.read(buffer.span(), range.offset, stop));
    // Once, behind the read: a file that is the same now was the same before.
    HEADRACE_TRY(const Status after, file.status(stop));
    if (after.kind == Status::Kind::folder)
      return Error(Code::not_found, "is a folder, not an object");
    if (!same_version(pin, after.pin)) return changed_error(pin, after.pin);
    if (got != range.length)
      return Error(Code::changed, "the file became shorter while it was read");
    context_.metrics->add(Metric::bytes_origin, range.length);
    const auto length = buffer.size();
    return ReadResult{std::move(buffer).freeze(length), after.pin};
  }

  Result<ReadResult> answer(const ReadRequest& request, const std::stop_token& ending) {
    if (request.stop.stop_requested()) return stopped();
    HEADRACE_TRY(local::check_key(request.key));
    // Either of the two ends it: the reader's stop, or the store's.
    std::stop_source either;
    const std::stop_callback of_reader(request.stop, [&either] { either.request_stop(); });
    const std::stop_callback of_store(ending, [&either] { either.request_stop(); });
    const std::stop_token stop = either.get_token();
    return idle_.with<ReadResult>(stop,
                                  [&](Connection& at) { return read_file(at, request, stop); });
  }

  const std::string name_;
  const Context context_;
  nfs::Idle idle_;
  ReadPool pool_;  // last: its threads use the rest
};

Result<nfs::Server> server_of(const Uri& uri, const NfsOptions& options) {
  nfs::Server server{.host = uri.authority,
                     .port = options.port,
                     .root = "/" + uri.path,
                     .timeout = options.timeout};
  const auto colon = server.host.rfind(':');
  if (colon != std::string::npos) {
    const auto port = parse_number<std::uint16_t>(std::string_view(server.host).substr(colon + 1));
    if (!port) return Error(Code::invalid, "no port after ':'", "nfs://host:port/export/path");
    server.port = *port;
    server.host.resize(colon);
  }
  while (server.root.size() > 1 && server.root.ends_with('/')) server.root.pop_back();
  return server;
}

Error advised(Error error) {
  if (error.code() == Code::unavailable)
    return std::move(error).advise(
        "is an NFSv4 server at that host and port? nfs://host:port/export");
  if (error.code() == Code::not_found) return std::move(error).advise("check the export's name");
  return error;
}

}  // namespace

Result<OpenedNfs> open_nfs_store(const Uri& uri, bool root_may_be_missing, const Context& context,
                                 const NfsOptions& options, const std::stop_token& stop) {
  const std::string place = uri.to_string();
  auto parsed = server_of(uri, options);
  if (!parsed) return std::move(parsed).error().at(place);
  nfs::Server server = *parsed;
  auto first = Connection::make(server, stop);
  if (first) {  // a file can be mounted, too
    const auto root = (*first)->status("/", stop);
    if (root && root->kind == Status::Kind::file) first = Error(Code::not_found, "is a file");
  }
  OpenedNfs opened;
  if (!first && first.error().code() != Code::cancelled && server.root != "/") {
    // A file, or a folder that is still to be made: look from the folder above.
    nfs::Server above = server;
    above.root = parent_of(server.root);
    const std::string name = server.root.substr(server.root.rfind('/'));
    if (auto parent = Connection::make(above, stop)) {
      const auto found = (*parent)->status(name, stop);
      if (found && found->kind == Status::Kind::file) {
        opened.only_key = name.substr(1);
        server = above;
        first = std::move(parent);
      } else if (root_may_be_missing) {
        HEADRACE_TRY((*parent)->make_folder(name, stop).at(place));
        first = Connection::make(server, stop);
      } else if (!found) {
        first = found.error();
      }
    } else if (root_may_be_missing) {
      Uri folder = uri;
      folder.path = above.root.substr(1);
      NfsOptions one = options;
      one.connections = 1;
      HEADRACE_TRY(open_nfs_store(folder, true, context, one, stop));
      return open_nfs_store(uri, true, context, options, stop);
    }
  }
  if (!first) return advised(std::move(first).error()).at(place);
  std::string name = fmt::format("nfs://{}{}", uri.authority, server.root);
  opened.store = std::make_unique<NfsStore>(std::move(name), *std::move(first), context, server,
                                            options.connections);
  return opened;
}

}  // namespace headrace
