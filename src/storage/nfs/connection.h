// SPDX-License-Identifier: Apache-2.0
/// \file One NFSv4 connection: one request at a time, each ends by its time or by a stop.
///
/// Not thread-safe: whoever has it uses it alone; it may change hands. Results are errno's words
/// mapped to codes; `stale` tells what a new look at the path may mend. Example: nfs_store.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/storage/store.h"

struct nfs_context;
struct nfsfh;

namespace headrace::nfs {

struct Server {
  std::string host;
  std::uint16_t port = 0;  ///< 0: 2049
  std::string root;        ///< "/export/path": what is mounted, the root of all paths
  std::chrono::milliseconds timeout{20'000};
};

struct Status {
  enum class Kind { file, folder, other };
  Kind kind = Kind::other;
  Pin pin;
};

struct Entry {
  enum class Kind { file, folder, link, other };
  Kind kind = Kind::other;
  std::string name;
  Pin pin;
};

class Connection;

/// An open file of a connection, which must outlive it; closed at its end.
class File {
 public:
  File(Connection& connection, nfsfh* handle) : connection_(&connection), handle_(handle) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) = delete;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  Result<Status> status(const std::stop_token& stop);
  /// Less than asked for only at the end of the file.
  Result<std::size_t> read(std::span<std::byte> into, std::uint64_t offset,
                           const std::stop_token& stop);
  Result<void> write(ByteSpan bytes, std::uint64_t offset, const std::stop_token& stop);
  Result<void> sync(const std::stop_token& stop);

 private:
  Connection* connection_;
  nfsfh* handle_;
};

class Connection {
 public:
  /// Connects and looks the root up.
  static Result<std::unique_ptr<Connection>> make(const Server& server,
                                                  const std::stop_token& stop);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Paths begin with '/', which is the root.
  Result<File> open(const std::string& path, const std::stop_token& stop);
  Result<File> create(const std::string& path, const std::stop_token& stop);
  Result<Status> status(const std::string& path, const std::stop_token& stop);
  /// Without "." and "..".
  Result<std::vector<Entry>> list(const std::string& path, const std::stop_token& stop);
  Result<void> make_folder(const std::string& path, const std::stop_token& stop);
  Result<void> remove(const std::string& path, const std::stop_token& stop);
  Result<void> remove_folder(const std::string& path, const std::stop_token& stop);
  Result<void> rename(const std::string& from, const std::string& to, const std::stop_token& stop);

  /// It was lost, or the server has forgotten us: only a new one helps.
  bool broken() const { return broken_; }

 private:
  friend class File;
  struct Call;
  explicit Connection(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  /// Starts a request and serves the connection until it is answered.
  Result<void> run(std::string_view doing, Call& call, const std::stop_token& stop,
                   const std::function<int(nfs_context*, Call&)>& start);
  Error failed(std::string_view doing, int error_number);

  const std::chrono::milliseconds timeout_;
  nfs_context* context_ = nullptr;
  bool broken_ = false;
};

/// The answer to a request about something that the server does not know any more.
bool is_stale(const Error& error);

}  // namespace headrace::nfs
