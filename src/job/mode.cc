// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headrace/base/uri.h"
#include "headrace/job/job.h"

namespace headrace {

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::direct:
      return "direct";
    case Mode::file:
      return "file";
    case Mode::stream:
      return "stream";
    case Mode::keep:
      return "keep";
    case Mode::pipe:
      break;
  }
  return "pipe";
}

Result<Mode> parse_mode(std::string_view text) {
  for (const auto mode : {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::pipe}) {
    if (text == to_string(mode)) return mode;
  }
  return Error(Code::invalid, fmt::format("unknown mode \"{}\"", text),
               "modes are direct, file, stream, keep and pipe");
}

Mode default_mode(std::string_view uri) {
  const auto parsed = parse_uri(uri);
  return parsed.ok() && parsed->scheme == Scheme::s3 ? Mode::keep : Mode::direct;
}

}  // namespace headrace
