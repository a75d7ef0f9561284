// SPDX-License-Identifier: Apache-2.0
/// \file The connections of a loop that carry GETs and HEADs: who uses which, and which wait to be
/// used.
///
/// Not thread-safe: a loop's thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headrace/storage/http/wire.h"

namespace headrace::http {

class WirePool {
 public:
  /// `ca_bundle` as in LoopOptions.
  explicit WirePool(std::string ca_bundle) : ca_bundle_(std::move(ca_bundle)) {}

  /// The one that waits for that server and was used last; null: none does.
  Wire* take(std::string_view server);
  /// A new one over a connected socket; in use. `denied` where the certificates to trust are not to
  /// be had.
  Result<Wire*> add(UniqueFd socket, std::string_view server);
  /// It waits, the longest of them leaving if there are more than `most`: its socket, or -1.
  void keep(Wire& wire) { idle_.push_back(wire.fd()); }
  /// Its connection closes.
  void drop(int fd);

  /// Whose socket this is, and whether it is in use.
  Wire* find(int fd) const;
  bool is_idle(int fd) const;
  std::size_t idle() const { return idle_.size(); }
  int longest_idle() const { return idle_.front(); }

 private:
  const std::string ca_bundle_;
  std::unique_ptr<TlsContext> tls_;  // once it is needed
  std::unordered_map<int, std::unique_ptr<Wire>> all_;
  std::vector<int> idle_;  // the one that was used last is the last
};

}  // namespace headrace::http
