// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <tuple>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/base/printable.h"
#include "headrace/base/signal_stop.h"
#include "usage.h"

namespace {

int report(const headrace::Error& error) {
  fmt::print(stderr, "headrace: {}: {}\n", to_string(error.code()),
             headrace::printable(error.to_string()));
  return error.code() == headrace::Code::cancelled ? headrace::kStoppedExit : 1;
}

/// A result that nobody got is no success. A reader that went away (`| head`) has had enough and
/// needs no message: the shell's code for a closed pipe.
int output_lost(int cause) {
  constexpr int kClosedPipe = 141;
  if (cause == EPIPE) return kClosedPipe;
  return report(headrace::errno_error(cause == 0 ? EIO : cause, "write").at("standard output"));
}

/// Hundreds of connections and files may be open at once; the usual soft limit is 1,024, and some
/// shells set less. The hard limit is the administrator's word.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(kEnough, limit.rlim_max);
  std::ignore = ::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(int argc, char** argv) {
  using namespace headrace::app;
  headrace::SignalStop signals;  // first, so that Ctrl-C while it starts is a stop, too
  CLI::App root(
      "headrace: training data, from where it is kept to the accelerator that waits for it",
      "headrace");
  root.require_subcommand(1);
  root.set_help_all_flag("--help-all", "Help of every command");
  root.set_version_flag("--version", "headrace " HEADRACE_VERSION, "Print the version");
  Invocation invocation;
  add_bench_decode(root, invocation);
  add_compare(root, invocation);
  add_convert(root, invocation);
  add_fetch(root, invocation);
  add_inspect(root, invocation);
  add_keep(root, invocation);
  add_mount(root, invocation);
  add_pack(root, invocation);
  add_pipe(root, invocation);
  add_read(root, invocation);
  add_train(root, invocation);
  add_verify(root, invocation);
  add_version(root, invocation);
  headrace::refuse_wrapped_numbers(root);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tell_usage(root, error);
  }
  auto code = invocation.run(signals.token());
  if (!code) return report(code.error());
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return output_lost(errno);
  return signals.token().stop_requested() ? headrace::kStoppedExit : *code;
}

}  // namespace

int main(int argc, char** argv) {
  // Large buffers go back to the system as soon as they are free. Left alone, the bound rises to
  // 32 MiB with the first of them, and what was needed for a moment stays for the whole job.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // Smaller ones, such as pictures, are freed by another thread than the one that asked: at glibc's
  // 128 KiB each arena gives pages back and takes them again all the time, which was a fifth of the
  // processor time of reading without decoding.
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
  raise_descriptor_limit();
  try {
    return run(argc, argv);
  } catch (const std::system_error& failed) {  // fmt::print, if the output is closed or full
    if (failed.code().value() == EPIPE) return output_lost(EPIPE);
    fmt::print(stderr, "headrace: {}\n", failed.what());
    return 1;
  } catch (const std::exception& bug) {  // memory, or a library that throws: never input
    std::ignore = std::fprintf(stderr, "headrace: %s\n", bug.what());
    return 1;
  }
}
