// SPDX-License-Identifier: Apache-2.0
#include "inspect_picture.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "headrace/base/printable.h"
#include "headrace/base/small_file.h"
#include "headrace/decode/picture_report.h"

namespace headrace::app {

Result<int> inspect_picture(const std::string& path, bool json) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return Error(Code::invalid, "a folder, not a picture",
                 "give the path of one picture, or leave --decode out")
        .at(path);
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30U;
  HEADRACE_TRY(const auto bytes, read_small_file(path, kLargest));
  const auto report = report_picture(as_byte_span(bytes));
  const std::string_view verdict = report.decodes ? "decodes" : "rejected";
  if (json) {
    const nlohmann::ordered_json line{{"schema", 1},
                                      {"width", report.width},
                                      {"height", report.height},
                                      {"format", to_string(report.format)},
                                      {"rgb_sha256", report.rgb_sha256},
                                      {"warnings", report.warnings},
                                      {"verdict", verdict},
                                      {"reason", report.reason}};
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return report.decodes ? 0 : 1;
  }
  fmt::print("{}: {} {} x {}, {}\n", printable(path), to_string(report.format), report.width,
             report.height, verdict);
  if (report.decodes) fmt::print("  RGB SHA-256 {}\n", report.rgb_sha256);
  for (const auto& warning : report.warnings) fmt::print("  warning: {}\n", printable(warning));
  if (!report.decodes) fmt::print("  {}\n", printable(report.reason));
  return report.decodes ? 0 : 1;
}

}  // namespace headrace::app
