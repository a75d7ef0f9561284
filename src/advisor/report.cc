// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/report.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "headrace/advisor/result_json.h"

namespace headrace::embedded {  // by embed() of cmake/Embed.cmake
extern const std::string_view report_html;
extern const std::string_view report_css;
extern const std::string_view report_js;
extern const std::string_view chart_js;
}  // namespace headrace::embedded

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;

void fill(std::string& page, std::string_view place, std::string_view with) {
  const auto at = page.find(place);
  if (at != std::string::npos) page.replace(at, place.size(), with);
}

/// JSON inside a script element: no text in it can end the element.
std::string for_script(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

std::string dump(const Comparison& comparison, int indent) {
  // Bytes that are not UTF-8, which a path may hold, are replaced instead of thrown at.
  return to_json(comparison).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  const auto part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return errno_error(errno, "write").at(part);
  std::error_code error;
  fs::rename(part, path, error);
  if (error) return errno_error(error.value(), "rename").at(part);
  return {};
}

}  // namespace

std::string to_html(const Comparison& comparison) {
  std::string page(embedded::report_html);
  fill(page, "{{CSS}}", embedded::report_css);
  fill(page, "{{CHART}}", embedded::chart_js);
  fill(page, "{{JS}}", embedded::report_js);
  fill(page, "{{DATA}}", for_script(dump(comparison, -1)));
  return page;
}

Result<void> write_report(const Comparison& comparison, const std::string& path) {
  const auto folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return errno_error(error.value(), "make the report's folder").at(folder.string());
  HEADRACE_TRY(write_file(path, to_html(comparison)));
  return write_file(folder / "results.json", dump(comparison, 2) + "\n");
}

}  // namespace headrace::advisor
