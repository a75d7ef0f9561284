// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/wire_pool.h"

#include <algorithm>

namespace headrace::http {
namespace {

/// "https://[::1]:9000" → "::1"
std::string host_of(std::string_view server) {
  server.remove_prefix(server.find("://") + 3);
  if (server.starts_with('[')) return std::string(server.substr(1, server.find(']') - 1));
  return std::string(server.substr(0, server.find(':')));
}

}  // namespace

Wire* WirePool::take(std::string_view server) {
  for (std::size_t i = idle_.size(); i-- > 0;) {
    Wire* const wire = find(idle_[i]);
    if (wire->server() != server) continue;
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    return wire;
  }
  return nullptr;
}

Result<Wire*> WirePool::add(UniqueFd socket, std::string_view server) {
  std::unique_ptr<Channel> channel;
  if (server.starts_with("https://")) {
    if (tls_ == nullptr) {
      HEADRACE_TRY(tls_, TlsContext::make(ca_bundle_));
    }
    channel = tls_->open(std::move(socket), host_of(server));
  } else {
    channel = make_plain_channel(std::move(socket));
  }
  auto wire = std::make_unique<Wire>(std::move(channel), std::string(server));
  Wire* const made = wire.get();
  all_[made->fd()] = std::move(wire);
  return made;
}

void WirePool::drop(int fd) {
  std::erase(idle_, fd);
  all_.erase(fd);
}

Wire* WirePool::find(int fd) const {
  const auto found = all_.find(fd);
  return found == all_.end() ? nullptr : found->second.get();
}

bool WirePool::is_idle(int fd) const { return std::ranges::find(idle_, fd) != idle_.end(); }

}  // namespace headrace::http
