// SPDX-License-Identifier: Apache-2.0
#include "inspect_media.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "headrace/job/media_file.h"

namespace headrace::app {
namespace {

using nlohmann::json;

json figures_json(const std::vector<Figure>& figures) {
  json all = json::array();
  for (const Figure& figure : figures) {
    all.push_back({{"name", figure.name},
                   {"value", figure.value},
                   {"source", figure.source},
                   {"verified", figure.verified},
                   {"fitted", figure.fitted},
                   {"note", figure.note}});
  }
  return all;
}

void print_figures(const std::vector<Figure>& figures, std::string_view unit) {
  for (const Figure& figure : figures) {
    const char* kind = figure.fitted ? "fitted" : figure.verified ? "verified" : "not verified";
    fmt::print("  {:<40} {:>12g} {:<4} {:<12} {}{}\n", figure.name, figure.value, unit, kind,
               figure.source, figure.note.empty() ? "" : "; " + figure.note);
  }
}

}  // namespace

Result<int> inspect_media(bool as_json) {
  HEADRACE_TRY(const MediaFile file, load_media());
  if (as_json) {
    json media = json::array();
    for (const MediumEntry& entry : file.media) {
      media.push_back({{"name", entry.medium.name},
                       {"about", entry.about},
                       {"reference", entry.reference},
                       {"figures", figures_json(entry.figures)},
                       {"prices", figures_json(entry.prices)}});
    }
    const json root = {{"schema", 1}, {"file", file.path}, {"date", file.date}, {"media", media}};
    fmt::print("{}\n", root.dump());
    return 0;
  }
  fmt::print("{} of {}\n", file.path, file.date);
  for (const MediumEntry& entry : file.media) {
    fmt::print("\n{}: {}{}\n", entry.medium.name, entry.about,
               entry.reference.empty() ? "" : " (" + entry.reference + ")");
    print_figures(entry.figures, "");
    print_figures(entry.prices, "USD");
  }
  return 0;
}

}  // namespace headrace::app
