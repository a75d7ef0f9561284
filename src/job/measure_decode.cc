// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/measure_decode.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "headrace/decode/decoder.h"
#include "headrace/decode/vector_units.h"

namespace headrace {

namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path());
  }
  if (error) return errno_error(error.value(), "read").at(folder);
  std::sort(files.begin(), files.end());
  return files;
}

Bytes contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  return Bytes::copy_of(text);
}

Result<std::vector<Bytes>> load(const DecodeBenchOptions& options, DecodeBenchReport& report,
                                const std::stop_token& stop) {
  HEADRACE_TRY(const auto files, files_below(options.folder));
  const std::size_t wanted = std::min(files.size(), options.limit);
  std::vector<Bytes> pictures;
  Decoder decoder;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    auto bytes = contents(files[i * files.size() / wanted]);
    if (decoder.decode(bytes.span())) {
      pictures.push_back(std::move(bytes));
    } else {
      ++report.left_out;
    }
  }
  if (pictures.empty()) {
    return Error(Code::not_found, "no picture that decodes in this folder",
                 "give --data a folder with JPEG files")
        .at(options.folder);
  }
  return pictures;
}

}  // namespace

Result<DecodeBenchReport> run_decode_bench(const DecodeBenchOptions& options,
                                           const std::stop_token& stop) {
  DecodeBenchReport report;
  HEADRACE_TRY(const auto pictures, load(options, report, stop));
  report.pictures = pictures.size();
  report.vector_unit = vector_unit_name();
  std::map<std::string, std::vector<Bytes>> groups;
  for (const Bytes& picture : pictures) {
    report.mean_bytes += static_cast<double>(picture.size()) / static_cast<double>(pictures.size());
    groups[sampling_of(picture.span())].push_back(picture);
  }
  std::erase_if(groups, [&pictures](const auto& group) {
    return group.second.size() * 10 < pictures.size();
  });
  if (groups.size() == 1) groups.clear();
  auto rates = options.rates;
  rates.seconds /= static_cast<double>(groups.size() + 1);
  HEADRACE_TRY(report.all, measure_decode_rates(pictures, rates, stop));
  for (const auto& [sampling, some] : groups) {
    HEADRACE_TRY(report.by_sampling[sampling], measure_decode_rates(some, rates, stop));
  }
  return report;
}

}  // namespace headrace
