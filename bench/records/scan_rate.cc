// SPDX-License-Identifier: Apache-2.0
// Reads a container from its first record to its last as a user of the readers does, and prints
// what that took: scan_rate recordio|tfrecord FILE
#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "headrace/base/unique_fd.h"
#include "headrace/records/byte_source.h"
#include "headrace/records/recordio/reader.h"
#include "headrace/records/tfrecord/reader.h"

namespace {

using namespace headrace;

struct Scanned {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< of frames
};

template <class Reader>
Result<Scanned> scan_all(ByteSource& source) {
  Scanned scanned;
  Reader reader(source);
  while (true) {
    HEADRACE_TRY(const auto record, reader.next());
    if (!record) return scanned;
    ++scanned.records;
    scanned.bytes += record->frame_bytes;
  }
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): what cannot be printed ends the program
int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: scan_rate recordio|tfrecord FILE\n");
    return 2;
  }
  const std::string_view format = argv[1];
  UniqueFd file(::open(argv[2], O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    std::perror(argv[2]);
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto source = make_fd_source(std::move(file), argv[2], {});
  const auto scanned = format == "tfrecord" ? scan_all<tfrecord::RecordReader>(*source)
                                            : scan_all<recordio::RecordReader>(*source);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (!scanned) {
    fmt::print(stderr, "{}\n", scanned.error().to_string());
    return 1;
  }
  const nlohmann::json line{
      {"records", scanned->records}, {"bytes", scanned->bytes}, {"seconds", taken.count()}};
  fmt::print("{}\n", line.dump());
  return 0;
}
