// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/quarantine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace headrace {

Result<Quarantine> Quarantine::open(const std::string& path) {
  Quarantine quarantine;
  if (path.empty()) return quarantine;
  quarantine.path_ = path;
  constexpr mode_t mode = 0644;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
  quarantine.fd_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode));
  if (!quarantine.fd_.valid()) return errno_error(errno, "open the quarantine file").at(path);
  return quarantine;
}

Result<void> Quarantine::add(const Entry& entry, const Error& why) {
  const nlohmann::ordered_json line = {
      {"uri", entry.uri},
      {"name", entry.name},
      {"object", entry.extent.key},
      {"record", entry.record},
      {"sample", entry.sample},
      {"epoch", entry.epoch},
      {"position", entry.position},
      {"offset", entry.extent.range.offset},
      {"bytes", entry.extent.range.length},
      {"code", to_string(why.code())},
      {"reason", why.cause()},
  };
  // Keys may hold any bytes; JSON may not: what is no UTF-8 is replaced.
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  ssize_t written = 0;
  do written = ::write(fd_.get(), text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) return {};
  return errno_error(written < 0 ? errno : ENOSPC, "write to the quarantine file").at(path_);
}

}  // namespace headrace
