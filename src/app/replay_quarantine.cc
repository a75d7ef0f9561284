// SPDX-License-Identifier: Apache-2.0
#include "replay_quarantine.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "headrace/base/unique_fd.h"
#include "headrace/decode/decoder.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/inspect/replay.h"
#include "headrace/records/lines.h"
#include "records_output.h"
#include "source_options.h"

namespace headrace::app {

Result<int> replay_quarantine(const std::string& path, const OpenOptions& options, bool json,
                              const std::stop_token& stop) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno_error(errno, "open").at(path);
  const auto source = make_fd_source(std::move(fd), path, stop);
  LineReader lines(*source);
  const Context context;
  Decoder decoder;
  Replayer replayer({.open = [&](const std::string& uri) -> Result<OpenedSet> {
                       HEADRACE_TRY(auto opened, open_source(uri, context, options, stop));
                       return OpenedSet{std::move(opened.store), std::move(opened.set)};
                     },
                     .decode = [&](ByteSpan payload) -> Result<void> {
                       HEADRACE_TRY(decoder.decode(payload));
                       return {};
                     }});
  std::uint64_t samples = 0;
  std::uint64_t bad = 0;
  for (std::uint64_t number = 1;; ++number) {
    HEADRACE_TRY(const auto text, lines.next());
    if (!text) break;
    if (text->empty()) continue;
    auto line = parse_quarantine_line(*text);
    if (!line) return std::move(line).error().at(fmt::format("{}:{}", path, number));
    HEADRACE_TRY(const auto replayed, replayer.replay(*std::move(line), stop));
    ++samples;
    if (!replayed.why.empty()) ++bad;
    fmt::print("{}\n", json ? replayed_json(replayed) : replayed_text(replayed));
  }
  if (json) {
    fmt::print("{{\"schema\":1,\"samples\":{},\"bad\":{}}}\n", samples, bad);
  } else {
    fmt::print("{} samples, {} still bad\n", samples, bad);
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace headrace::app
